// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "plan.h"

namespace simulation {

/// A put of a program: its step, its variable, and its number among the puts of both.
using PutName = std::tuple<std::int64_t, std::size_t, std::size_t>;

/// Steps of a file that are on the disk, each with what its job has put.
using Steps = std::map<std::int64_t, std::shared_ptr<const PlannedFile>>;

/// The findings of a job about a file.
struct Found {
  Steps steps{};
  std::int64_t after = INT64_MAX;  ///< a job that goes on drops the steps behind this one
  /// Those `steps` that nobody was told of: a power loss may take them until the file is opened.
  std::set<std::int64_t> unsure{};
  /// That `keep` has removed: a power loss may bring them back until the file is opened.
  Steps removed{};
  int newest_attributes = 0;  ///< the highest version that jobs have set
  /// All that earlier jobs have put, the oldest first. The file itself may show steps that a job
  /// did not come to tell of in the manifest.
  std::vector<std::shared_ptr<const PlannedFile>> put{};
  /// Nobody was told of any step of the job that replaced the file: a power loss may bring back
  /// what was there, until the file is opened.
  bool is_untold = false;
  bool operator==(const Found&) const = default;
};

/// True if a job keeps nothing of what was there. Then all of that stays until its first commit.
[[nodiscard]] inline bool keeps_nothing(const PlannedFile& file, const Found& before) {
  return !file.goes_on || (!before.steps.empty() && before.steps.begin()->first > before.after);
}

/// The answers of a program's calls about one file so far.
struct Told {
  std::set<std::int64_t> committed{};
  std::map<std::int64_t, std::string> failed{};  ///< with what the first rank was told
  std::set<PutName> refused{};
  std::set<PutName> durable{};  ///< fsynced, by what their tickets said
  bool is_closed = false;       ///< by all ranks, without a failure
  /// Close said yes to a rank that had not been told of these, nor of the file as a whole.
  std::set<std::int64_t> closed{};
  /// By step: those of the file that it comes after which a rank had ended before it ended this
  /// one.
  std::map<std::int64_t, std::set<std::int64_t>> predecessors{};
  int newest_attributes = 0;  ///< the highest version that a rank has set, or an earlier job
  int last_attributes = 0;    ///< that which was set last
  Found before{};
  std::optional<std::int64_t> first_step{};  ///< where it begins, once a rank has opened it
  bool operator==(const Told&) const = default;
};

}  // namespace simulation
