// SPDX-License-Identifier: BSD-3-Clause
#include "formats/frames/target.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/failure.h"
#include "base/joined_writes.h"
#include "base/write_plainly.h"
#include "formats/format.h"
#include "formats/frames/index.h"
#include "formats/frames/zstd.h"
#include "formats/open_together.h"
#include "formats/shuffle.h"
#include "mpi/agree.h"
#include "mpi/error.h"

namespace iocomp::formats::frames {
namespace {

constexpr const char* other_writers = "the other writers of a file in frames";
constexpr std::size_t round_bytes = std::size_t{64} << 20;
constexpr std::int64_t failed = -1;

std::vector<std::byte> frame_of(std::span<const std::byte> bytes, std::size_t element_bytes,
                                const Compression& compression) {
  if (!compression.is_on()) {
    return {bytes.begin(), bytes.end()};
  }
  if (!compression.shuffle || element_bytes == 1) {
    return compressed(bytes, compression.level);
  }
  std::vector<std::byte> shuffled(bytes.size());
  shuffle(bytes, element_bytes, shuffled.data());
  return compressed(shuffled, compression.level);
}

}  // namespace

FrameTarget::FrameTarget(std::string path, const FormatOptions& options, MPI_Comm writers)
    : path_{std::move(path)},
      options_{options},
      writers_{writers},
      policy_{.deadline_seconds = options.deadline_seconds},
      file_{open_together(path_, writers)},
      threads_{options.crew} {
  mpi::check(MPI_Comm_rank(writers_, &rank_));
}

void FrameTarget::agree(const Outcome& mine) const {
  const Outcome common = mpi::agree(writers_, mine, policy_, other_writers);
  if (!common.ok()) {
    throw Error{common.code, common.story};
  }
}

void FrameTarget::sync() const {
  if (::fsync(file_.raw()) != 0) {
    throw failure("fsync", path_, errno);
  }
}

void FrameTarget::write(const Placed& where, const Selection& selection,
                        std::span<const std::byte> bytes) {
  const std::size_t element = array::size_bytes(where.variable.type);
  const std::int64_t chunk = options_.storage_of(where.variable.name).chunk_bytes;
  const auto most = std::max<std::int64_t>(1, chunk / static_cast<std::int64_t>(element));
  for (std::int64_t done = 0; done < selection.count; done += most) {
    const std::int64_t count = std::min(most, selection.count - done);
    parts_.push_back({where.variable,
                      {selection.box, selection.first + done, count},
                      bytes.subspan(static_cast<std::size_t>(done) * element,
                                    static_cast<std::size_t>(count) * element)});
  }
}

// Behind the parts that are taken in hand at once.
std::size_t FrameTarget::round_end(std::size_t first) const {
  std::size_t bytes = 0;
  std::size_t last = first;
  while (last < parts_.size() &&
         (last == first || bytes + parts_[last].bytes.size() <= round_bytes)) {
    bytes += parts_[last++].bytes.size();
  }
  return last;
}

std::vector<FrameTarget::Made> FrameTarget::compress(std::size_t first, std::size_t last) {
  std::vector<Made> made(last - first);
  std::vector<h5::ChunkThreads::Job> jobs;
  for (std::size_t i = first; i < last; ++i) {
    jobs.emplace_back([this, &part = parts_[i], &frame = made[i - first]] {
      const double begin = now_seconds();
      frame.bytes = frame_of(part.bytes, array::size_bytes(part.variable.type),
                             options_.storage_of(part.variable.name).compression);
      frame.seconds = now_seconds() - begin;
    });
  }
  const Outcome outcome = threads_.run(std::move(jobs));
  if (!outcome.ok()) {
    throw Error{outcome.code, outcome.story};
  }
  return made;
}

void FrameTarget::note(const Part& part, std::int64_t offset, std::int64_t bytes) {
  const Compression compression = options_.storage_of(part.variable.name).compression;
  Stored& stored = index_[part.variable.name];
  stored.type = part.variable.type;
  stored.shape = part.variable.shape;
  stored.is_compressed = compression.is_on();
  stored.is_shuffled =
      stored.is_compressed && compression.shuffle && array::size_bytes(stored.type) > 1;
  stored.frames.push_back({offset, bytes, part.selection});
  if (stored.is_compressed) {
    done_.raw_bytes += std::ssize(part.bytes);
    done_.stored_bytes += bytes;
  }
}

void FrameTarget::append(std::size_t first, const std::vector<Made>& made, std::int64_t offset) {
  JoinedWrites writes{file_, offset, path_};
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto& frame = made[i];
    note(parts_[first + i], writes.end(), std::ssize(frame.bytes));
    done_.seconds += frame.seconds;
    writes.add(frame.bytes);
  }
  writes.finish();
}

// In rounds that bound what is in hand. All writers make as many: the last of them is that in which
// nobody has anything left.
Compressed FrameTarget::write_step(std::int64_t /*step*/, const Description& /*description*/) {
  Outcome mine;
  std::size_t next = 0;
  for (bool is_left = true; is_left;) {
    const std::size_t first = next;
    std::vector<Made> made;
    mine = outcome_of([&] {
      next = round_end(first);
      made = compress(first, next);
    });
    std::int64_t bytes = 0;
    for (const auto& frame : made) {
      bytes += std::ssize(frame.bytes);
    }
    const std::int64_t told = 2 * bytes + (next < parts_.size() ? 1 : 0);
    const auto all =
        mpi::gather_to_all(writers_, mine.ok() ? told : failed, policy_, other_writers);
    is_left = false;
    if (std::ranges::find(all, failed) == all.end()) {
      std::int64_t own = end_;
      for (std::size_t writer = 0; writer < all.size(); ++writer) {
        own = writer == static_cast<std::size_t>(rank_) ? end_ : own;
        end_ += all[writer] / 2;
        is_left = is_left || all[writer] % 2 != 0;
      }
      mine = outcome_of([&] { append(first, made, own); });
    }
    agree(mine);
  }
  parts_.clear();
  agree(outcome_of([this] { sync(); }));
  return std::exchange(done_, {});
}

void FrameTarget::finish(const Description& description) {
  std::string own;
  agree(outcome_of([&] { own = text_of(index_); }));
  const auto all = mpi::gather(writers_, 0, own, policy_, other_writers);
  agree(outcome_of([&] {
    if (rank_ == 0) {
      Index index;
      for (const auto& text : all) {
        merge(index, text);
      }
      for (const auto& placed : description.contents) {  // also what nobody has put anything of
        index.try_emplace(placed.variable.name,
                          Stored{.type = placed.variable.type, .shape = placed.variable.shape});
      }
      write_plainly(file_, end_, ending_of(index), path_);
      sync();
    }
  }));
}

}  // namespace iocomp::formats::frames
