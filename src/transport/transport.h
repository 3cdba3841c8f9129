// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "array/memory_box.h"
#include "base/futex.h"
#include "transport/survivors.h"

namespace iocomp::transport {

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

/// By which ways bulk data came to this process, and how often it slept. A transport fills in what
/// it knows.
struct Tally {
  double in_place_bytes = 0;  ///< borrowed from memory of the program
  double staged_bytes = 0;    ///< borrowed, or copied, from copies that the sender's library made
  double pulled_bytes = 0;    ///< read by this process out of the sender
  double message_bytes = 0;   ///< sent by the sender, in messages or through a ring
  double sleeps = 0;          ///< times this process went to sleep on its word
  double wake_ups = 0;        ///< times it woke another
};

/// How messages and bulk data travel between the ranks of a session. Control messages are small and
/// arrive in the order of sending per pair; bulk data stay with the sender until the receiver
/// fetches them, chunk by chunk, into memory of its choice. Nothing here waits: whoever has nothing
/// to do naps (mpi/wait.h) and calls `progress` again. Used by one thread.
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
  /// Whether that process is known to run on other hardware threads than this one.
  [[nodiscard]] virtual bool runs_elsewhere(int /*rank*/) const { return true; }

  /// Whether the bulk data of a post were taken by the receiver.
  [[nodiscard]] virtual bool is_taken(PostId post) = 0;

  /// Posts to `rank` that wait for a credit, so are held back in this process.
  [[nodiscard]] virtual std::size_t held_back(int rank) const = 0;

  /// The next control message that has arrived, if any.
  [[nodiscard]] virtual std::optional<Incoming> poll() = 0;

  /// The receiver has dealt with a message of `rank` and its bulk data: another may be sent.
  virtual void give_credit(int rank) = 0;

  /// Fetch the next chunk that `rank` offers (chunks come in the order of posting) into `memory`,
  /// which has its exact size.
  virtual FetchId fetch(int rank, std::span<std::byte> memory) = 0;

  /// Whether what `rank` offers can be fetched and borrowed in parts of any size, instead of in the
  /// chunks of its post.
  [[nodiscard]] virtual bool fetches_any_size(int /*rank*/) const { return false; }

  /// Memory of another process that this one reads in place.
  struct Borrowed {
    FetchId id = 0;
    std::span<const std::byte> bytes;
  };
  /// Instead of fetching the next chunk that `rank` offers: read it where it lies, until it is
  /// given back. Nothing where this process cannot, or where the address is not
  /// `page_remainder` (if given) modulo `page_bytes`, because then O_DIRECT could not use it.
  virtual std::optional<Borrowed> borrow(int /*rank*/, std::size_t /*bytes*/,
                                         std::optional<std::size_t> /*page_remainder*/) {
    return std::nullopt;
  }
  static constexpr std::size_t page_bytes = 4096;
  /// The chunk that was borrowed is not read any more.
  virtual void give_back(FetchId /*chunk*/) {}

  /// A fetch that has completed since the last call, if any.
  [[nodiscard]] virtual std::optional<FetchId> next_fetched() = 0;

  /// Whether `export_memory` can have success.
  [[nodiscard]] virtual bool exports_memory() const { return false; }
  /// Memory of this process from which receivers can borrow, zeroed; empty where there is none.
  /// @param staged  whether the library itself copies into it: told apart in the trace.
  virtual std::span<std::byte> export_memory(std::size_t /*bytes*/, bool /*staged*/) { return {}; }
  /// @return whether it was exported memory, which is gone now.
  virtual bool withdraw_memory(const std::byte* /*first*/) { return false; }

  /// Move what can be moved; true if anything did.
  virtual bool progress() = 0;

  /// From here on whoever sends something to this process wakes it; to be called before the last
  /// look for arrivals.
  /// @return the word to sleep on; nothing where arrivals are found by looking only.
  virtual std::optional<FutexWord> watch() { return std::nullopt; }
  /// Awake again.
  virtual void unwatch() {}
  /// Whether some arrivals do not change that word: whoever sleeps has to look now and then.
  [[nodiscard]] virtual bool needs_looks() const { return true; }
  /// End the sleep of this process, if it sleeps. The one function that any thread may call.
  virtual void rouse() {}

  /// What survives a dead process; nothing where nobody would find out.
  [[nodiscard]] virtual Survivors* survivors() { return nullptr; }

  /// What was counted since the start.
  [[nodiscard]] virtual Tally tally() const { return {}; }

  /// Nothing that this process sent is still on its way.
  [[nodiscard]] virtual bool is_idle() const = 0;
};

}  // namespace iocomp::transport
