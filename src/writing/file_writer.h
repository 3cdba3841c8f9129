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

/// Writes pieces into one physical file, in one process, whoever runs it: puts short runs together
/// in stripes, brings bytes into the order of the file, and has them written in the way of its
/// format. What becomes of a piece is told to the piece. Nothing here waits for others.
class FileWriter {
 public:
  struct Setup {
    Path path{};
    std::string name{};  ///< of the file in the program, for the timeline
    formats::Opening opening = formats::Opening::finds;
    disk::Options disk{};
    /// How bytes get into the file: plain by the disk engine, shared by calls of MPI that block, a
    /// slice at a time.
    formats::Kind kind = formats::Kind::plain;
    bool swaps_bytes = false;  ///< the file has numbers in the other byte order
    Submit submit{};
    trace::Counters* counters = nullptr;
    Stripes* stripes = nullptr;  ///< of all physical files of a file; null: nothing is put together
    Spill* spill = nullptr;      ///< where chunks go that find no room; null: they stay in memory
  };
  explicit FileWriter(Setup setup);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  /// What is under way goes on, and its pieces are told.
  ~FileWriter() = default;

  /// Write a chunk, now or later. Its piece knows its offset. Where this file has its bytes in
  /// another order they are turned around in `own_bytes`, which the chunk then must have. It must
  /// have them too where the file keeps some bits of values only, which are rounded there.
  void write(Chunk chunk);
  /// The same of a chunk that is put together with no others.
  void write_alone(Chunk chunk);
  /// Put a chunk together with others, as far as there is room, and write the stripes that are full
  /// now: the rest stays in the chunk. @pre its piece is joined.
  /// @return true if any stripe was written.
  bool join(Chunk& chunk);
  /// Write what this process has to write of a stripe.
  void write(Stripe stripe);
  /// Write a value wherever the piece has an element. @param value  of one element; empty: zeros.
  void fill(const std::shared_ptr<Piece>& piece, std::span<const std::byte> value);
  /// Start what waits for company: small chunks of one round share a plan.
  void submit() { output_->submit(); }

  /// Whether the calling thread has to write something itself, because a library does it.
  [[nodiscard]] bool has_work() const { return output_->has_work(); }
  /// Write a slice of that. Sleeps as the file's pace demands.
  void advance() { output_->advance(); }

  /// Read back what was spilled, as far as there is memory for it and its turn has come, and write
  /// it. @return whether there was any.
  bool take_back();
  [[nodiscard]] bool has_spilled() const noexcept { return !spilled_.empty(); }
  /// What was spilled of steps from `from` to before `to` is not written any more.
  void drop_spilled(std::int64_t from, std::int64_t to, const Outcome& outcome);

  /// Make durable what has ended by now. @param done  is called when it is, or cannot be; at once
  /// where nothing was ever written.
  void sync(SyncQueue::Done done);

  [[nodiscard]] PhysicalFile& file() noexcept { return file_; }
  /// Null where nothing is put together.
  [[nodiscard]] Stripes* stripes() noexcept { return stripes_; }
  [[nodiscard]] bool swaps_bytes() const noexcept { return swaps_bytes_; }
  /// Where whole steps are written; else null.
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
