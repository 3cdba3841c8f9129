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
#include "base/path.h"
#include "base/write_plainly.h"
#include "formats/format.h"
#include "formats/frames/index.h"
#include "formats/open_together.h"
#include "formats/packed_writer.h"
#include "mpi/agree.h"
#include "mpi/error.h"

namespace iocomp::formats::frames {
namespace {

constexpr const char* other_writers = "the other writers of a file in frames";

}  // namespace

FrameTarget::FrameTarget(const Path& path, const FormatOptions& options, MPI_Comm writers)
    : path_{path.text()},
      options_{options},
      writers_{writers},
      policy_{options.wait},
      file_{open_together(path, writers, policy_)},
      packed_{{.path = path_,
               .file = file_,
               .writers = writers,
               .policy = policy_,
               .others = other_writers,
               .crew = options.crew,
               .bypasses_cache = options.bypasses_cache}} {
  mpi::check(MPI_Comm_rank(writers_, &rank_));
}

void FrameTarget::agree(const Outcome& mine) const {
  mpi::agree(writers_, mine, policy_, other_writers).throw_unless_ok();
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

// The index behind the last part of each round. All writers have as many rounds; the last ones of
// some are empty.
std::vector<std::size_t> FrameTarget::ends_of_rounds() const {
  std::vector<std::size_t> ends;
  for (std::size_t part = 0; part < parts_.size();) {
    std::int64_t bytes = 0;
    do {
      bytes += std::ssize(parts_[part++].bytes);
    } while (part < parts_.size() &&
             bytes + std::ssize(parts_[part].bytes) <= PackedWriter::round_bytes);
    ends.push_back(part);
  }
  std::int64_t rounds = std::ssize(ends);
  mpi::maximum(writers_, std::span{&rounds, 1}, policy_, other_writers);
  ends.resize(static_cast<std::size_t>(rounds), parts_.size());
  return ends;
}

void FrameTarget::pack(const Part& part, Packed& to) {
  const double begin = now_seconds();
  const Compression& compression = options_.storage_of(part.variable.name).compression;
  if (compression.is_on()) {
    auto bench = benches_.take();
    const auto frame =
        frame_of(part.bytes, array::size_bytes(part.variable.type), compression, *bench);
    to.bytes.assign(frame.begin(), frame.end());
    benches_.give_back(std::move(bench));
  } else {
    to.bytes.assign(part.bytes.begin(), part.bytes.end());
  }
  to.seconds = now_seconds() - begin;
}

void FrameTarget::note(const Part& part, const Packed& packed, std::int64_t offset) {
  const Compression compression = options_.storage_of(part.variable.name).compression;
  Stored& stored = index_[part.variable.name];
  stored.type = part.variable.type;
  stored.shape = part.variable.shape;
  stored.is_compressed = compression.is_on();
  stored.is_shuffled =
      stored.is_compressed && compression.shuffle && array::size_bytes(stored.type) > 1;
  stored.frames.push_back({offset, std::ssize(packed.bytes), part.selection});
  if (stored.is_compressed) {
    done_.raw_bytes += std::ssize(part.bytes);
    done_.stored_bytes += std::ssize(packed.bytes);
    done_.seconds += packed.seconds;
  }
}

Compressed FrameTarget::write_step(std::int64_t /*step*/, const Description& /*description*/) {
  const std::vector<std::size_t> ends = ends_of_rounds();
  const auto first_of = [&ends](std::size_t round) { return round == 0 ? 0 : ends[round - 1]; };
  const auto begin = [&](std::size_t round) {
    std::vector<Pack> packs;
    for (std::size_t part = first_of(round); part < ends[round]; ++part) {
      packs.emplace_back([this, part](Packed& packed) { pack(parts_[part], packed); });
    }
    return packs;
  };
  const auto note_part = [&](std::size_t round, std::size_t part, const Packed& packed,
                             std::int64_t offset) {
    note(parts_[first_of(round) + part], packed, offset);
  };
  packed_.write({.rounds = ends.size(), .begin = begin, .note = note_part}, end_);
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
