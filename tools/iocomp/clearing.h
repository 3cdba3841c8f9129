// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "iocomp/output.h"

namespace iocomp::command {

/// An action on something on the disk, or the reason why there was none.
struct Deed {
  std::string path;
  std::string done;  ///< "removed", "left", ...
  std::string why;
};
struct Deeds {
  std::vector<Deed> all;
  bool failed = false;  ///< something was left, and not because a job has it
};

/// A further action on a file, taken while nobody else can write it.
struct Repair {
  std::function<bool(const Output&)> is_needed;
  std::function<std::vector<Deed>(const Output&)> act;
};

/// Remove what dead jobs have left: temporaries and locks. Where a replacement was interrupted, the
/// old file is in force again. Nothing is touched of a file whose lock a job holds, or may hold.
/// @param dry_run  only tell what would be done, under no lock.
[[nodiscard]] Deeds clear(const std::vector<Output>& outputs, bool dry_run,
                          const Repair& repair = {});

/// Remove empty files of which a process that was killed has left the name: they have one for a
/// moment only, where a file system has no files without. One that is younger than a minute stays.
/// @param path  of a folder; nothing is done where it is none.
void clear_momentary(const std::string& path, bool dry_run, Deeds& deeds);

/// Prints them as a table, or as JSON.
/// @param nothing  what to say where nothing was done.
/// @throws CLI::RuntimeError where something failed.
void print(const Deeds& deeds, bool as_json, const std::string& nothing);

}  // namespace iocomp::command
