// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace iocomp::apps {

/// An option takes a value by its name. Another name is refused with those that there are.
class OneOf : public CLI::CheckedTransformer {
 public:
  template <typename Value>
  explicit OneOf(const std::map<std::string, Value>& names) : CLI::CheckedTransformer(names) {
    std::string all;
    for (const auto& [name, value] : names) all += (all.empty() ? "" : ", ") + name;
    desc_function_ = [all] { return "one of " + all; };
    func_ = [find = func_, all](std::string& word) {
      return find(word).empty() ? std::string{} : "'" + word + "' is none of " + all;
    };
  }
};

}  // namespace iocomp::apps
