// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "iocomp/numa/placed_memory.h"
#include "iocomp/numa/scratch_file.h"
#include "iocomp/numa/trial.h"
#include "placement/writer_policy.h"
#include "topology/binding.h"
#include "topology/node.h"

namespace iocomp::command {

/// One measurement of a trial.
struct Sample {
  double seconds = 0;
  std::size_t threads = 0;  ///< that had something to do
  std::string misplaced{};  ///< what did not lie where the trial wants it; empty: all did
};

/// Carries out trials: memory, threads and pages of the page cache are where the policy says, or
/// the sample tells that they are not.
class NumaBench {
 public:
  /// @param bytes  that are moved for each domain of a trial.
  /// @throws Error{storage_failure} when there can be no file in the directory.
  NumaBench(topology::Node node, const std::string& directory, std::size_t bytes);

  [[nodiscard]] bool has_direct() const noexcept { return file_.has_direct(); }
  /// @throws Error{unsupported} where the system refuses to place memory or threads;
  /// Error{storage_failure}.
  [[nodiscard]] Sample run(const Trial& trial);

 private:
  struct Moves;

  [[nodiscard]] std::vector<PlacedMemory> sources_of(const Moves& moves) const;
  [[nodiscard]] std::vector<PlacedMemory> targets_of(const Moves& moves) const;
  void prepare_file(const Moves& moves);
  void move(const Moves& moves, std::size_t share) const;
  [[nodiscard]] std::string misplaced(const Moves& moves) const;
  /// The domain to ask memory from; nothing if there is one domain only.
  [[nodiscard]] std::optional<int> place_of(int domain) const;

  topology::Node node_;
  std::vector<std::vector<int>> seats_;  // by domain: CPUs
  std::size_t bytes_;
  topology::ThreadBinder binder_;
  ScratchFile file_;
};

}  // namespace iocomp::command
