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

/// Steps of another file that come first: a step that has it is committed when these are.
struct Predecessor {
  std::uint64_t file = 0;  ///< key of the other file
  std::string name;        ///< for people
  std::int64_t steps = 0;  ///< the first ones, so many
  Outcome failure{};       ///< why they never will be committed, where the speaker knows that

  friend bool operator==(const Predecessor&, const Predecessor&) = default;
};
using Predecessors = std::vector<Predecessor>;

/// Add those that others say of the same step: of each file the most steps, and the first failure.
void add(Predecessors& sum, const Predecessors& more);

/// How far a file has come.
struct Standing {
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::int64_t settled = 0;          ///< steps that are committed or failed
  std::int64_t failed_from = never;  ///< the first step that failed, or will
  Outcome failure{};                 ///< of it

  friend bool operator==(const Standing&, const Standing&) = default;
};

/// How far the files of a session have come, as far as one process has heard.
class Progress {
 public:
  /// A step is committed, or it failed; those before it have settled too.
  void settled(std::uint64_t file, std::int64_t step, const Outcome& outcome);
  /// Steps from this one on cannot be committed any more.
  void lost(std::uint64_t file, std::int64_t from_step, const Outcome& why);
  /// Nothing more comes from it: what has not failed is committed.
  void closed(std::uint64_t file);
  /// What another process has heard.
  void heard(std::uint64_t file, const Standing& standing);

  [[nodiscard]] Standing standing(std::uint64_t file) const;
  /// What becomes of those who come after such steps: they may be committed, or fail too. Nothing
  /// while that is open.
  [[nodiscard]] std::optional<Outcome> verdict(const Predecessor& predecessor) const;
  /// The newest step of a file comes after these: for people.
  void follows(std::uint64_t file, Predecessors predecessors) {
    followed_[file] = std::move(predecessors);
  }
  /// Which of these have not settled, in words; empty if all have.
  [[nodiscard]] std::string owed_before(std::uint64_t file) const;
  /// Changes with everything that is heard.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  std::map<std::uint64_t, Standing> standings_;
  std::map<std::uint64_t, Predecessors> followed_;  // of files that come after others
  std::unordered_set<std::uint64_t> sound_;         // closed, and nothing has failed
  std::uint64_t version_ = 0;
};

}  // namespace iocomp::steps
