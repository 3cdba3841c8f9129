// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/spares.h"
#include "base/worker.h"
#include "compress/bench.h"
#include "hdf5/event.h"
#include "hdf5/filters.h"
#include "hdf5/native.h"
#include "hdf5/open_dataset.h"
#include "staging/arena.h"
#include "trace/counters.h"

namespace iocomp::hdf5 {

/// Filters chunks in threads of its own, which take time that nobody else wants. HDF5 gets the
/// chunks from the program's thread, in the order in which they came.
class Packer {
 public:
  /// @param counters  outlive this.
  explicit Packer(trace::Counters& counters) noexcept : counters_{counters} {}
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  ~Packer() = default;

  /// A chunk that a program has written as a whole.
  struct Chunk {
    std::shared_ptr<OpenDataset> dataset;
    std::shared_ptr<const Filters> filters;
    std::vector<hsize_t> first;              ///< its first element
    std::shared_ptr<staging::Lease> memory;  ///< in which its values lie
    std::span<std::byte> values;
    std::shared_ptr<Event> event{};  ///< null: nobody waits for this call
    std::uint64_t plan = 0;          ///< of the output: ends when HDF5 has the chunk
  };
  /// False where the system gives no thread: HDF5 has to filter. It is told once.
  [[nodiscard]] bool has_threads();
  /// @pre has_threads()
  void begin(Chunk chunk);

  [[nodiscard]] bool is_empty() const noexcept { return chunks_.empty(); }
  /// True if a chunk of this dataset is on its way.
  [[nodiscard]] bool holds(const Output& output, const native::Token& token) const;
  /// Sleep until the next chunk is filtered, or this has passed.
  void wait(std::chrono::nanoseconds longest);
  /// Give HDF5 the chunks that are filtered.
  void hand_over();

 private:
  struct Packed {
    Chunk chunk;
    std::vector<std::byte> longer{};  ///< the filtered bytes, if they have no room in the memory
    std::span<const std::byte> bytes{};
    double seconds = 0;                ///< that filtering took
    std::optional<Outcome> outcome{};  // guarded by mutex_
  };
  void pack(Packed& packed);

  trace::Counters& counters_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<std::unique_ptr<Packed>> chunks_;  // of the program's thread
  Spares<compress::Bench> benches_;
  Spares<std::vector<std::byte>> rooms_;
  bool has_no_threads_ = false;
  std::optional<Worker> worker_;  // since the first chunk; last: its threads use the above
};

}  // namespace iocomp::hdf5
