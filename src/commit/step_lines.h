// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contents/description.h"

namespace iocomp::commit {

/// The steps of a manifest, as its lines. Steps that differ only in their places share a line. So a
/// commit costs what its own steps cost, however many there were before. Copies share the text.
class StepLines {
 public:
  /// Add steps behind those that are there.
  void add(const contents::Description& description);

  /// The steps beyond those of `earlier`, if these lines continue its last line: an object
  /// {"count", "time", "advance"}. Nothing if they do not.
  [[nodiscard]] std::optional<std::string> continued(const StepLines& earlier) const;

  /// The text between "[" and "]", in parts; empty if there is no step.
  [[nodiscard]] std::vector<std::shared_ptr<const std::string>> text() const;

  friend bool operator==(const StepLines& one, const StepLines& other);

 private:
  struct Run {  // successive steps with the same variables at regular places
    std::vector<contents::Placed> first;
    std::vector<std::int64_t> advance;  // by variable: bytes from one step to the next
    std::int64_t count = 0;
    std::int64_t step = 0;      // the first one
    std::int64_t number = 0;    // of the first step
    std::vector<double> times;  // of all steps, or of none
    // The text for the variables, once it is known that it stays.
    std::shared_ptr<const std::string> variables;
  };
  [[nodiscard]] bool is_implied(const Run& step) const;
  [[nodiscard]] bool extend(const Run& step);
  void end_run();
  [[nodiscard]] static std::string line(const Run& run, bool is_first);
  [[nodiscard]] static std::string variables(const Run& run);

  std::vector<std::shared_ptr<const std::string>> ended_;  // many lines in a text
  Run run_;                                                // the last line
};

}  // namespace iocomp::commit
