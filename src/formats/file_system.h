// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/open_folder.h"

namespace iocomp::formats {

enum class FileSystemKind { other, lustre, gpfs };

/// The system's description of the file system of a directory.
struct FileSystemFacts {
  FileSystemKind kind = FileSystemKind::other;
  std::string type;              ///< "lustre", "gpfs", "ext4"; a number where nobody knows a name
  std::int64_t block_bytes = 0;  ///< that it likes to move at once (st_blksize)
  std::int64_t free_bytes = 0;
  bool takes_direct_io = false;   ///< a file opens with O_DIRECT
  int targets = 0;                ///< Lustre: object storage targets; 0: not told
  bool has_layout = false;        ///< Lustre: somebody has chosen that of new files
  std::int64_t stripe_bytes = 0;  ///< Lustre: the longest of that layout; 0: not told
};

/// A part of a file on Lustre, up to `end`, and the targets it is striped over.
struct StripedPart {
  std::int64_t end = 0;  ///< -1: that of the file
  int targets = 0;       ///< -1: all
};

/// The layout and hints that iocomp recommends for a shared file there.
struct FileSystemAdvice {
  bool is_special = false;                                 ///< false: there is nothing to choose
  std::vector<StripedPart> parts;                          ///< Lustre: short files on few targets
  std::int64_t stripe_bytes = 0;                           ///< Lustre
  std::int64_t alignment_bytes = 0;                        ///< for files.*.alignment
  int aggregators_per_stripe = 0;                          ///< Lustre
  std::vector<std::pair<std::string, std::string>> hints;  ///< for MPI-IO, weaker than the user's
  std::string command;  ///< that sets the layout of the directory; ""
};

/// Look at the file system of a folder. Makes and removes a file there, to try O_DIRECT, if it may.
/// @throws Error{storage_failure} naming the folder and the cause.
[[nodiscard]] FileSystemFacts file_system_of(const OpenFolder& folder);

/// The same for a file that is yet to be, as far as its layout goes: nothing is tried, and where
/// the folder cannot be asked nothing is told. Local.
[[nodiscard]] FileSystemFacts layout_facts_of(const OpenFolder& folder);

/// Pure. Lustre: the longer the file the more targets, stripes of 1 MiB, borders of domains on
/// borders of stripes, as many aggregators per stripe as there are writers for, up to 16, with a
/// lock mode in which they do not wait for each other (Henty, benchio, CUG 2022: 50 instead of 9.6
/// GiB/s). GPFS: borders on borders of blocks, so that no two writers want the token of one block.
/// Others: nothing. Hints leave the stripes to a layout that somebody has chosen.
/// @param writers  ranks that write one file together.
[[nodiscard]] FileSystemAdvice advise(const FileSystemFacts& facts, int writers,
                                      const std::string& directory);

/// The unit of borders between the domains of writers: the setting, or a stripe (Lustre) or block
/// (GPFS) if that is longer. Pure.
[[nodiscard]] std::int64_t domain_bytes(std::int64_t setting_bytes, const FileSystemFacts& facts);
/// The same for a file that is yet to be. Local.
[[nodiscard]] std::int64_t domain_bytes_in(const OpenFolder& folder, std::int64_t setting_bytes);
/// The longest stripe in an attribute "lustre.lov" (struct lov_user_md, or lov_comp_md_v1 of a
/// composite layout); 0: none is told. Pure.
[[nodiscard]] std::int64_t stripe_bytes_in(std::span<const std::byte> attribute);

/// The hints of `advise` for a file in a folder that the ranks of `writers` write together; none
/// where the file system cannot be asked. Local.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> file_system_hints(
    const OpenFolder& folder, MPI_Comm writers);

}  // namespace iocomp::formats
