// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace actor::recorder {

/// Records what all processes of a launch ask of the files under the working directory, in one log:
/// from it every state can be made in which a power loss may leave the disk (tests/faults).
///
/// A record is a line `word a b c bytes`, and then so many bytes. Files are called by their inode.
///   create INODE, truncate INODE SIZE, grow INODE SIZE, sync INODE PROCESS,
///   lost INODE PROCESS: a sync has failed;
///   write INODE OFFSET ID with the bytes, done ID RESULT: the write is over. The upper half of an
///   ID is the process; where the lower half is 0, the write is over at once;
///   rename FLAGS, link, unlink, folder INODE: with paths, zeros between them;
///   told: an entry of a journal.
void start(const std::string& log);
void stop();
[[nodiscard]] bool is_on();

/// An entry of a journal: what the program knows from here on.
void tell(std::string_view entry);

/// While it is there no other process records: around a call and its record.
class Turn {
 public:
  Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();
};

/// True if a file lies under the folder. Paths may be relative.
[[nodiscard]] bool concerns(int descriptor);
[[nodiscard]] bool concerns(const std::string& path);

/// Each needs a turn.
void created(int descriptor, const char* path);
void wrote(int descriptor, std::span<const std::byte> bytes, std::int64_t offset,
           std::uint64_t id = 0);
void done(std::uint64_t id, std::int64_t result);
void resized(int descriptor, std::int64_t size, bool only_grows);
void synced(int descriptor, bool well);
void made_folder(const char* path);
void named(const char* word, unsigned flags, const char* path, const char* other = "");

/// For a write that ends later.
[[nodiscard]] std::uint64_t new_id();

}  // namespace actor::recorder
