// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>

#include "base/crew.h"
#include "base/error.h"
#include "base/path.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "trace/counters.h"
#include "writing/output.h"
#include "writing/physical_file.h"
#include "writing/piece.h"
#include "writing/spill.h"
#include "writing/step_output.h"
#include "writing/stripes.h"
#include "writing/submit.h"
#include "writing/sync_queue.h"

namespace iocomp::writing {

/// Writes pieces into one physical file, in one process, whoever runs it. It puts short runs
/// together in stripes, brings bytes into the order of the file, and has them written in the way of
/// the format. Each piece is told what becomes of it. Nothing here waits for others.
class FileWriter {
 public:
  struct Setup {
    Path path{};
    std::string name{};  ///< of the file in the program, for the timeline
    formats::Opening opening = formats::Opening::finds;
    disk::Options disk{};
    /// The way bytes get into the file: plain by the disk engine, shared by blocking calls of MPI,
    /// a slice at a time.
    formats::Kind kind = formats::Kind::plain;
    bool swaps_bytes = false;  ///< the file has numbers in the other byte order
    Submit submit{};
    trace::Counters* counters = nullptr;
    Stripes* stripes = nullptr;  ///< of all physical files of a file; null: nothing is put together
    Spill* spill = nullptr;      ///< takes chunks that find no room; null: they stay in memory
  };
  explicit FileWriter(Setup setup);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  /// Work under way goes on, and its pieces are told.
  ~FileWriter() = default;

  /// Write a chunk, now or later. Its piece knows its offset. The chunk must have `own_bytes` if
  /// this file has bytes in another order, or keeps only some bits of values. They are swapped and
  /// rounded there.
  void write(Chunk chunk);
  /// The same for a chunk that is not put together with others.
  void write_alone(Chunk chunk);
  /// Put a chunk together with others, as far as there is room, and write the stripes that are full
  /// now. The rest stays in the chunk. @pre its piece is joined.
  /// @return true if any stripe was written.
  bool join(Chunk& chunk);
  /// Write the part of a stripe that is due to this process.
  void write(Stripe stripe);
  /// Write a value wherever the piece has an element. @param value  of one element; empty: zeros.
  /// @return true if anything is written now. The rest waits in stripes, or is blank.
  bool fill(const std::shared_ptr<Piece>& piece, std::span<const std::byte> value);
  /// Start small chunks that wait to share a plan.
  void submit() { output_->submit(); }

  /// True if the calling thread must write something itself, because a library does it.
  [[nodiscard]] bool has_work() const { return output_->has_work(); }
  /// Write a slice of that. Sleeps as the file's pace demands.
  void advance() { output_->advance(); }

  /// Read back spilled chunks and write them, as far as there is memory and their turn has come.
  /// @return true if there were any.
  bool take_back();
  [[nodiscard]] bool has_spilled() const noexcept { return !spilled_.empty(); }
  /// Give up the spilled chunks of steps from `from` to before `to`.
  void drop_spilled(std::int64_t from, std::int64_t to, const Outcome& outcome);

  /// Make durable what has ended by now. @param done  called when it is durable, or cannot be; at
  /// once if nothing was ever written.
  void sync(SyncQueue::Done done);

  [[nodiscard]] PhysicalFile& file() noexcept { return file_; }
  /// Null if nothing is put together.
  [[nodiscard]] Stripes* stripes() noexcept { return stripes_; }
  [[nodiscard]] bool swaps_bytes() const noexcept { return swaps_bytes_; }
  /// The output for whole steps; null for other formats.
  [[nodiscard]] StepOutput* whole_steps() noexcept { return steps_; }

 private:
  [[nodiscard]] std::unique_ptr<Output> make_output(const Setup& setup);
  void pass_on(Chunk chunk);

  PhysicalFile file_;
  Stripes* stripes_;
  trace::Counters& counters_;
  bool swaps_bytes_;
  Crew* crew_;
  StepOutput* steps_ = nullptr;
  Spill* spill_;
  std::unique_ptr<Output> output_;
  std::shared_ptr<SyncQueue> syncs_;
  std::deque<Spill::Spilled> spilled_;  // in the order in which they came
};

}  // namespace iocomp::writing
