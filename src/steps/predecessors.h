// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp::steps {

/// A step with this predecessor is committed only after these steps of another file.
struct Predecessor {
  std::uint64_t file = 0;  ///< key of the other file
  std::string name;        ///< for messages
  std::int64_t steps = 0;  ///< number of its first steps that must be committed
  Outcome failure{};       ///< the reason why they never will be, if it is known

  friend bool operator==(const Predecessor&, const Predecessor&) = default;
};
using Predecessors = std::vector<Predecessor>;

/// Join the predecessors that others report for the same step. Of each file the most steps count,
/// and the first failure.
void add(Predecessors& sum, const Predecessors& more);

/// The progress of a file.
struct Standing {
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::int64_t settled = 0;          ///< steps that are committed or failed
  std::int64_t failed_from = never;  ///< the first step that has failed or will fail
  Outcome failure{};                 ///< the failure of that step

  friend bool operator==(const Standing&, const Standing&) = default;
};

/// The progress of the files of a session, as far as one process has heard of it.
class Progress {
 public:
  /// A step is committed or has failed. All earlier steps have settled.
  void settled(std::uint64_t file, std::int64_t step, const Outcome& outcome);
  /// Steps from this one on can no longer be committed.
  void lost(std::uint64_t file, std::int64_t from_step, const Outcome& why);
  /// The file is closed. All of its steps that have not failed are committed.
  void closed(std::uint64_t file);
  /// Add what another process has heard.
  void heard(std::uint64_t file, const Standing& standing);

  [[nodiscard]] Standing standing(std::uint64_t file) const;
  /// The verdict on steps that come after this predecessor: success if they may be committed, its
  /// failure if they fail too, nothing while that is open.
  [[nodiscard]] std::optional<Outcome> verdict(const Predecessor& predecessor) const;
  /// Note the predecessors of a file's newest step, for messages.
  void follows(std::uint64_t file, Predecessors predecessors) {
    followed_[file] = std::move(predecessors);
  }
  /// The predecessors that have not settled, in words; empty if all have.
  [[nodiscard]] std::string owed_before(std::uint64_t file) const;
  /// A number that changes with everything that is heard.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  std::map<std::uint64_t, Standing> standings_;
  std::map<std::uint64_t, Predecessors> followed_;  // predecessors of files that come after others
  std::unordered_set<std::uint64_t> sound_;         // closed files without a failure
  std::uint64_t version_ = 0;
};

}  // namespace iocomp::steps
