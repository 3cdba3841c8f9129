#pragma once

#include <string>
#include <string_view>

#include "contents/variable.h"

namespace iocomp::contents {

/// What a format can hold.
class Rules {
 public:
  Rules() = default;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;
  virtual ~Rules() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  ///< "posix"

  /// @throws Error{unsupported} naming type and format when it cannot hold such elements.
  virtual void check(const Variable& variable) const = 0;

  /// @throws Error{unsupported} naming attribute and format when it cannot hold that.
  virtual void check_attribute(const std::string& /*name*/, const Attribute& /*attribute*/) const {}

  /// Whether a file of several steps has the variables of its first step in all of them, with the
  /// same shapes.
  [[nodiscard]] virtual bool keeps_first_definitions() const { return false; }
};

}  // namespace iocomp::contents
