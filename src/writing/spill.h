// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "disk/spill_file.h"
#include "trace/counters.h"
#include "writing/piece.h"

namespace iocomp::writing {

/// Keeps chunks that find no room in memory: their bytes lie in a spill file. There is one per
/// process, for all files that ask for it with when_full = "spill". Chunks that cannot be spilled
/// stay in memory, so that their senders wait. Used by one thread.
class Spill {
 public:
  /// The memory that may be full.
  struct Memory {
    std::size_t most_given_bytes = 0;  ///< files may be writing from so much of it ...
    std::function<bool()> is_short;    ///< ... and from more while this says no
    /// Take memory for the bytes of a chunk, which it then has. @return true if there was any.
    std::function<bool(Chunk& chunk, std::size_t bytes, std::size_t page_remainder)> take;
  };
  /// A chunk that was spilled. It has no memory.
  struct Spilled {
    Chunk chunk;
    disk::SpillFile::Part part;
    std::uint64_t checksum;
  };
  /// @pre the counters, and what `memory` calls, outlive this object.
  Spill(std::unique_ptr<disk::SpillFile> file, Memory memory, trace::Counters& counters);

  /// Spill a chunk that lies in the memory, if that is short and files are writing from enough of
  /// it. Nothing if the chunk keeps its memory.
  /// @param path  of its file, for messages.
  [[nodiscard]] std::optional<Spilled> put(Chunk& chunk, const std::string& path);
  /// A chunk goes to be written. Its memory comes back when that is done.
  void give(Chunk& chunk);
  /// True if this chunk can be given now.
  [[nodiscard]] bool has_turn(const Spilled& spilled) const noexcept;
  /// True if nothing that was given is still being written.
  [[nodiscard]] bool is_idle() const noexcept { return given_bytes_ == 0; }
  /// Take memory for a chunk again. @return true if there was some.
  [[nodiscard]] bool take_memory(Spilled& spilled) const;
  /// Read its bytes back. @pre take_memory. @throws Error{storage_failure}.
  void read(Spilled& spilled);

 private:
  [[nodiscard]] std::optional<disk::SpillFile::Part> write(const Chunk& chunk,
                                                           const std::string& path);

  std::unique_ptr<disk::SpillFile> file_;
  Memory memory_;
  trace::Counters& counters_;
  std::size_t given_bytes_ = 0;
  std::size_t used_at_failure_ = 0;  // bytes in the file when it could not be written
  bool has_failed_ = false;          // and nothing was given back since then
  bool has_told_failure_ = false;
  bool has_spilled_ = false;
};

}  // namespace iocomp::writing
