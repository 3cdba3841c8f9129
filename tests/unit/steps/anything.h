#pragma once

#include <string_view>

#include "contents/rules.h"
#include "contents/variable.h"

namespace iocomp::steps {

/// Rules that allow everything.
class Anything : public contents::Rules {
 public:
  Anything() : Rules{"anything", false} {}
};

}  // namespace iocomp::steps
