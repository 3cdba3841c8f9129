// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "reading/committed.h"

namespace iocomp::reading {

/// What to look for.
struct Sought {
  enum class Kind : std::uint8_t { either, one_file, file_per_step };
  std::string name;     ///< of the file in the program, for messages
  std::string path;     ///< as in the settings; of a file of all steps, or of none
  std::string backend;  ///< of files without a manifest; empty: what their first bytes tell
  std::string modules;  ///< setting storage.modules
  Kind kind = Kind::either;
  bool believes_manifest = true;  ///< else files tell themselves what they have
};

/// Look at the disk: one file of all steps, or one file per step. What a file is its manifest says;
/// where there is none, the file itself if its format can. Of files of one step each, those that
/// cannot be read are left out, told in the log and in `Committed::torn`.
/// @throws Error{not_found} when there is no such file, or nothing of it is committed;
/// Error{storage_failure} naming a manifest or file that cannot be read, or that is shorter than
/// its manifest says (that of the newest step, where no file of one step can be read);
/// Error{unsupported}; Error{invalid_argument} when both kinds are there.
[[nodiscard]] Committed find_committed(const Sought& sought);

}  // namespace iocomp::reading
