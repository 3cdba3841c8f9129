// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "reading/committed.h"

namespace iocomp::reading {

/// The files to look for.
struct Sought {
  enum class Kind : std::uint8_t { either, one_file, file_per_step };
  std::string name;     ///< name of the file in the program, for messages
  std::string path;     ///< as in the settings, for a file of all steps or of none
  std::string backend;  ///< for files without a manifest; empty: as their first bytes tell
  std::string modules;  ///< setting storage.modules
  Kind kind = Kind::either;
  bool believes_manifest = true;  ///< otherwise files tell themselves what they have
};

/// Look at the disk for one file of all steps, or one file per step. The manifest tells which of
/// these a file is. Without a manifest the file itself tells, if its format can. Files of one step
/// that cannot be read are left out, and told in the log and in `Committed::torn`.
/// @throws Error{not_found} if there is no such file, or nothing of it is committed;
/// Error{storage_failure} naming a manifest or file that cannot be read, or that is shorter than
/// its manifest says (of the newest step, if no file of one step can be read); Error{unsupported};
/// Error{invalid_argument} if both kinds are there.
[[nodiscard]] Committed find_committed(const Sought& sought);

}  // namespace iocomp::reading
