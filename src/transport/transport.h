// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "array/memory_box.h"
#include "base/futex.h"

namespace iocomp::transport {

class NodeWatch;

/// A control message that arrived.
struct Incoming {
  int sender = -1;  ///< session rank
  std::vector<std::byte> message;
};

/// Bulk data in rows of a larger array: elements `first` to `first + count` of the packed order of
/// `memory`.
struct StridedBytes {
  const std::byte* array = nullptr;
  array::MemoryBox memory;
  std::size_t element_bytes = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(count) * element_bytes;
  }
};

using PostId = std::uint64_t;
using FetchId = std::uint64_t;

/// Counts the ways on which bulk data came to this process, and how often it slept. A transport
/// fills in what it knows.
struct Tally {
  double in_place_bytes = 0;  ///< borrowed from memory of the program
  double staged_bytes = 0;    ///< borrowed, or copied, from copies that the sender's library made
  double pulled_bytes = 0;    ///< read by this process out of the sender
  double message_bytes = 0;   ///< sent by the sender, in messages or through a ring
  double sleeps = 0;          ///< times this process went to sleep on its word
  double wake_ups = 0;        ///< times it woke another process
};

/// Moves messages and bulk data between the ranks of a session. Control messages are small, and
/// arrive in the order of sending per pair. Bulk data stay with the sender until the receiver
/// fetches them, chunk by chunk, into memory of its choice. Nothing here waits: a process that has
/// nothing to do naps (mpi/wait.h) and calls `progress` again. Used by one thread.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Send a control message to `rank`, and offer `bulk` (may be empty) for fetching in chunks of
  /// `chunk_bytes`, the last one shorter. The message is taken over; `bulk` must stay untouched
  /// until `is_taken`.
  virtual PostId post(int rank, std::vector<std::byte> message,
                      std::span<const std::byte> bulk = {}, std::size_t chunk_bytes = 0) = 0;

  /// The same for bulk data that are not contiguous, fetched in whole elements.
  /// @pre takes_strided(rank)
  virtual PostId post_strided(int /*rank*/, std::vector<std::byte> /*message*/,
                              const StridedBytes& /*bulk*/) {
    return 0;
  }
  [[nodiscard]] virtual bool takes_strided(int /*rank*/) const { return false; }
  /// True if that process is known to run on other hardware threads than this one.
  [[nodiscard]] virtual bool runs_elsewhere(int /*rank*/) const { return true; }

  /// True if the receiver has taken the bulk data of a post.
  [[nodiscard]] virtual bool is_taken(PostId post) = 0;

  /// The number of posts to `rank` that are held back in this process, because they wait for a
  /// credit.
  [[nodiscard]] virtual std::size_t held_back(int rank) const = 0;

  /// The next control message that has arrived, if any.
  [[nodiscard]] virtual std::optional<Incoming> poll() = 0;

  /// This process has dealt with a message of `rank` and its bulk data: `rank` may send another.
  virtual void give_credit(int rank) = 0;

  /// Fetch the next chunk that `rank` offers (chunks come in the order of posting) into `memory`,
  /// which has its exact size.
  virtual FetchId fetch(int rank, std::span<std::byte> memory) = 0;

  /// True if what `rank` offers can be fetched and borrowed in parts of any size, instead of in the
  /// chunks of its post.
  [[nodiscard]] virtual bool fetches_any_size(int /*rank*/) const { return false; }

  /// Memory of another process that this one reads in place.
  struct Borrowed {
    FetchId id = 0;
    std::span<const std::byte> bytes;
  };
  /// Read the next chunk that `rank` offers where it lies, instead of fetching it, until it is
  /// given back. Nothing if this process cannot, or if the address is not `page_remainder` (if
  /// given) modulo `page_bytes`, because then O_DIRECT could not use it.
  virtual std::optional<Borrowed> borrow(int /*rank*/, std::size_t /*bytes*/,
                                         std::optional<std::size_t> /*page_remainder*/) {
    return std::nullopt;
  }
  static constexpr std::size_t page_bytes = 4096;
  /// The borrowed chunk is no longer read.
  virtual void give_back(FetchId /*chunk*/) {}

  /// A fetch that has completed since the last call, if any.
  [[nodiscard]] virtual std::optional<FetchId> next_fetched() = 0;

  /// True if `export_memory` can succeed.
  [[nodiscard]] virtual bool exports_memory() const { return false; }
  /// Memory of this process from which receivers can borrow, zeroed; empty if there is none.
  /// @param staged  true if the library itself copies into it; the trace tells these apart.
  virtual std::span<std::byte> export_memory(std::size_t /*bytes*/, bool /*staged*/) { return {}; }
  /// @return true if it was exported memory; then it is gone now.
  virtual bool withdraw_memory(const std::byte* /*first*/) { return false; }

  /// Move what can be moved. @return true if anything moved.
  virtual bool progress() = 0;

  /// From here on a sender wakes this process. Call it before the last look for arrivals.
  /// @return the word to sleep on; nothing if arrivals are found only by looking.
  virtual std::optional<FutexWord> watch() { return std::nullopt; }
  /// The process is awake again.
  virtual void unwatch() {}
  /// True if some arrivals do not change that word. Then a sleeping process must look now and then.
  [[nodiscard]] virtual bool needs_looks() const { return true; }
  /// End the sleep of this process, if it sleeps. The one function that any thread may call.
  virtual void rouse() {}

  /// The part that finds out that a process has ended; null if nobody would.
  [[nodiscard]] virtual NodeWatch* node_watch() { return nullptr; }

  /// The counts since the start.
  [[nodiscard]] virtual Tally tally() const { return {}; }

  /// True if nothing that this process sent is still on its way.
  [[nodiscard]] virtual bool is_idle() const = 0;
};

}  // namespace iocomp::transport
