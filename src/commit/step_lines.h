// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contents/description.h"

namespace iocomp::commit {

/// The steps of a manifest, as its lines. Steps that differ in nothing but their places share one,
/// so that a commit costs what its own steps do, however many were before. Copies share the text.
class StepLines {
 public:
  /// These come behind those that are there.
  void add(const contents::Description& description);

  /// What is said of the steps that these have more than `earlier`, if they continue its last line:
  /// an object {"count", "time", "advance"}. Nothing where they do not.
  [[nodiscard]] std::optional<std::string> continued(const StepLines& earlier) const;

  /// What stands between "[" and "]", in parts; empty where there is no step.
  [[nodiscard]] std::vector<std::shared_ptr<const std::string>> text() const;

  friend bool operator==(const StepLines& one, const StepLines& other);

 private:
  struct Run {  // steps one after the other, of the same variables at regular places
    std::vector<contents::Placed> first;
    std::vector<std::int64_t> advance;  // by variable: from a step to the next, bytes
    std::int64_t count = 0;
    std::int64_t number = 0;    // of the first one
    std::vector<double> times;  // of all, or of none
    // What the line says of the variables, once it is known that it stays.
    std::shared_ptr<const std::string> variables;
  };
  [[nodiscard]] bool extend(const Run& step);
  void end_run();
  [[nodiscard]] static std::string line(const Run& run, bool is_first);
  [[nodiscard]] static std::string variables(const Run& run);

  std::vector<std::shared_ptr<const std::string>> ended_;  // many lines in a text
  Run run_;                                                // the last line
};

}  // namespace iocomp::commit
