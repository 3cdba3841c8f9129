// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "contents/variable.h"

namespace iocomp::contents {

/// What a format can hold.
class Rules {
 public:
  /// @param format  its name: "posix".
  /// @param keeps_first_definitions  a file of several steps has the variables of its first step in
  /// all of them, with the same shapes.
  /// @param has_one_step  a file has no more than one step.
  Rules(std::string_view format, bool keeps_first_definitions, bool has_one_step = false)
      : format_{format},
        keeps_first_definitions_{keeps_first_definitions},
        has_one_step_{has_one_step} {}
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;
  virtual ~Rules() = default;

  [[nodiscard]] std::string_view name() const noexcept { return format_; }
  [[nodiscard]] bool keeps_first_definitions() const noexcept { return keeps_first_definitions_; }
  [[nodiscard]] bool has_one_step() const noexcept { return has_one_step_; }

  /// True if each step of a file of several steps has the variable, also where nobody puts it.
  [[nodiscard]] virtual bool has_in_all_steps(const Variable& /*variable*/) const {
    return keeps_first_definitions_;
  }

  /// @throws Error{unsupported} naming type and format when it cannot hold such elements.
  virtual void check(const Variable& /*variable*/) const {}

  /// @throws Error{unsupported} naming attribute and format when it cannot hold that.
  virtual void check_attribute(const std::string& /*name*/, const Attribute& /*attribute*/) const {}

 private:
  std::string_view format_;
  bool keeps_first_definitions_;
  bool has_one_step_;
};

}  // namespace iocomp::contents
