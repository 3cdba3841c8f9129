// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "disk.h"
#include "plan.h"
#include "told.h"

namespace simulation {

/// The plan of a file, less the puts that were refused.
[[nodiscard]] PlannedFile what_was_put(PlannedFile file, const Told& told);

/// The place of the bytes of a variable in a step.
struct BytesAt {
  Disk::Inode inode = 0;
  std::int64_t offset = 0;
  bool are_big_endian = false;
};

/// The findings of a reader about a file.
struct Seen {
  Steps steps{};
  /// By step and variable, for steps of the job itself, where the manifest tells it.
  std::map<std::pair<std::int64_t, std::size_t>, BytesAt> places{};
};

/// Compares what a reader finds on a disk with what was told. Violations in words.
/// @param seen  is given what is there, by file.
/// @param files  those that are looked at; null: all.
[[nodiscard]] std::vector<std::string> check_disk(const Plan& plan, const std::vector<Told>& told,
                                                  Disk& disk, const std::string& when,
                                                  std::vector<Seen>* seen = nullptr,
                                                  const std::vector<std::size_t>* files = nullptr);

/// Violations that a reader shows on a disk with a damaged file: values neither right nor refused.
[[nodiscard]] std::vector<std::string> check_damaged(const Plan& plan,
                                                     const std::vector<Told>& told, Disk& disk,
                                                     const std::string& when,
                                                     const std::string& damaged, bool is_shorter);

/// Compares the durable bytes of tickets with a disk: it may be one of before the commit.
/// @param places  where the bytes lie in the end.
[[nodiscard]] std::vector<std::string> check_durable(const Plan& plan,
                                                     const std::vector<Told>& told,
                                                     const Disk& disk, const std::string& when,
                                                     const std::vector<Seen>& places);

/// The names that a clean end leaves behind and should not.
[[nodiscard]] std::vector<std::string> left_behind(const Disk& disk);

}  // namespace simulation
