// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/crew.h"
#include "base/descriptor.h"
#include "base/joined_writes.h"
#include "mpi/wait.h"

namespace iocomp::formats {

/// A part of a step, compressed, on its way into the file.
struct Packed {
  std::vector<std::byte> bytes{};
  /// Instead of these, bytes that lie elsewhere until the step is written; empty: there are none.
  std::span<const std::byte> elsewhere{};
  double seconds = 0;            ///< that it took
  std::int64_t filter_mask = 0;  ///< as of an Extent

  [[nodiscard]] std::span<const std::byte> all() const noexcept {
    return elsewhere.empty() ? std::span{bytes} : elsewhere;
  }
};

/// Makes one of them, in any thread and beside others. It never calls MPI, nor HDF5. What is in
/// `to` before may be anything.
using Pack = std::function<void(Packed& to)>;

/// The parts of a step that one writer has to pack, in rounds that bound the memory in hand.
struct Packing {
  std::size_t rounds = 0;  ///< the same on all writers
  /// Returns the parts of a round. Called once for each round, in order, on all writers; may be
  /// collective.
  std::function<std::vector<Pack>(std::size_t round)> begin{};
  /// Takes note of the offset of a part of a round. Called in the order of the parts.
  std::function<void(std::size_t round, std::size_t part, const Packed& packed,
                     std::int64_t offset)>
      note{};
};

/// Compresses steps and writes them into a file: while the threads of this process pack a round,
/// its caller writes the round before. Parts lie in the file by round, in a round by writer, and
/// then in their order. So their places do not depend on the threads.
class PackedWriter {
 public:
  struct Terms {
    const std::string& path;
    const Descriptor& file;  ///< open by then: see `open`
    MPI_Comm writers;
    mpi::WaitPolicy policy;
    const char* others;                ///< for whom a writer waits, in words
    Crew* crew = nullptr;              ///< null: the caller alone
    std::int64_t alignment_bytes = 1;  ///< of what a writer has in a round
    bool bypasses_cache = false;       ///< as in FormatOptions
    std::function<void()> open{};      ///< called before this writer writes into the file
  };
  /// `path` and `file` outlive this.
  explicit PackedWriter(const Terms& terms)
      : terms_{terms}, crew_{terms.crew == nullptr ? &alone_ : terms.crew} {}

  /// The bytes of values that a round should have: enough for several threads, and few enough for
  /// the disk to begin early. The same whatever the threads, since places depend on it.
  static constexpr std::int64_t round_bytes = std::int64_t{32} << 20;

  /// Pack a step and write it. Collective over the writers.
  /// @param end  of the file, before and after; the same on all writers.
  /// @throws Error with the first failure, on all writers or on none.
  void write(const Packing& packing, std::int64_t& end);

 private:
  struct Round;
  [[nodiscard]] std::unique_ptr<Round> round_of(std::vector<Pack> parts);
  void append(Round& round, std::size_t number, std::int64_t offset, const Packing& packing,
              std::unique_ptr<JoinedWrites>& writes);

  Terms terms_;
  Crew alone_{{}};
  Crew* crew_;
  std::vector<Packed> spare_;  // memory of parts that are written
};

}  // namespace iocomp::formats
