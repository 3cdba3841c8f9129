// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "session/session.h"

namespace iocomp::api {

/// The lists and texts of an input that the program gets pointers to. They live as long as it.
class HandedOut {
 public:
  HandedOut() = default;
  /// @param input  outlives this.
  explicit HandedOut(const session::Input& input);

  [[nodiscard]] const std::vector<std::int64_t>& steps() const noexcept { return steps_; }
  [[nodiscard]] const std::vector<std::int64_t>& left_out() const noexcept { return left_out_; }
  /// The cause of each of these.
  [[nodiscard]] const std::vector<const char*>& causes() const noexcept { return causes_; }
  [[nodiscard]] const std::vector<const char*>& variables() const noexcept { return variables_; }
  /// The names of attributes of the input.
  [[nodiscard]] const std::vector<const char*>& names(const session::Attributes& all) const;
  /// The text of one of them, zero-terminated.
  [[nodiscard]] const char* text(const session::Attribute& attribute) const;
  /// The texts of one that is a list of them.
  [[nodiscard]] const std::vector<const char*>& texts(const session::Attribute& attribute) const;

 private:
  std::vector<std::int64_t> steps_;
  std::vector<std::int64_t> left_out_;
  std::vector<const char*> causes_;
  std::vector<const char*> variables_;
  mutable std::map<const session::Attributes*, std::vector<const char*>> names_;
  mutable std::map<const session::Attribute*, std::string> texts_;
  mutable std::map<const session::Attribute*, std::vector<const char*>> lists_;
};

}  // namespace iocomp::api
