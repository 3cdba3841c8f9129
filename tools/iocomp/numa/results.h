// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "iocomp/numa/bench.h"
#include "iocomp/numa/trial.h"
#include "placement/writer_policy.h"
#include "topology/node.h"

namespace iocomp::command {

/// GiB/s of the samples in which all was placed as the trial wants it.
struct Rates {
  double median = 0;
  double least = 0;
  double most = 0;
};

/// A trial, and what came of it, by round.
struct TrialResult {
  Trial trial{};
  std::vector<Sample> samples{};

  /// Nothing where no sample was placed. @param bytes  moved for each domain.
  [[nodiscard]] std::optional<Rates> rates(std::size_t bytes) const;
  [[nodiscard]] std::size_t misplaced() const;
};

/// All that `iocomp numa` has found.
struct NumaResults {
  topology::Node node{};
  std::vector<std::vector<int>> seats{};  ///< by domain: CPUs
  std::string directory{};
  std::string file_system{};
  std::size_t bytes = 0;  ///< moved for each domain
  std::size_t rounds = 0;
  std::vector<TrialResult> trials{};
  std::vector<std::string> notes{};
};

/// The better of the library's two policies, local and pull, for an operation, from the
/// measurements on all domains.
struct AutoChoice {
  Operation operation{};
  bool on_one = false;
  placement::PolicyChoice choice{};
};

/// The choices, in the order of the operations. On one domain there are none.
[[nodiscard]] std::vector<AutoChoice> automatic_choices(const NumaResults& results);

/// The policies for all requests of writer threads: those of copies, which most of them are, or of
/// writes if copies were not measured.
/// @throws Error{invalid_argument} if neither was, or there is one domain.
[[nodiscard]] placement::AutomaticPolicies policies_of(const std::vector<AutoChoice>& choices);

}  // namespace iocomp::command
