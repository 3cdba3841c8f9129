// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>

namespace iocomp::apps {

/// A fault that all compute ranks find alike, such as options that do not fit: run_job tells it
/// once.
class Mistake : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace iocomp::apps
