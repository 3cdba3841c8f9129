// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contents/rules.h"

namespace iocomp::steps {

/// Rules that allow everything.
class Anything : public contents::Rules {
 public:
  Anything() : Rules{"anything", false} {}
};

}  // namespace iocomp::steps
