// SPDX-License-Identifier: BSD-3-Clause
#include "formats/chunks/chunk_writer.h"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/copy_run.h"
#include "array/repeat.h"
#include "array/runs.h"
#include "base/clock.h"
#include "base/error.h"
#include "formats/chunks/chunk_exchange.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/format.h"
#include "formats/packed_writer.h"
#include "mpi/agree.h"
#include "mpi/error.h"

namespace iocomp::formats {
namespace {

constexpr const char* other_writers = "the other writers of a compressed step";

using Parts = std::vector<const ChunkPart*>;

// Finds the writer that has most of each chunk. Writers that have as much take turns: their order
// is that of their ranks with bits of the chunk's number turned over, so that any two change
// places.
std::vector<int> holders(const StepChunks& chunks, const std::vector<ChunkPart>& own, int rank,
                         int size, const ChunkOutput& to) {
  std::vector<std::int64_t> most(static_cast<std::size_t>(chunks.count()), 0);
  for (const auto& part : own) {
    most[static_cast<std::size_t>(part.chunk)] += part.selection.count;
  }
  const auto width = static_cast<std::int64_t>(std::bit_ceil(static_cast<unsigned>(size)));
  for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
    auto& mine = most[static_cast<std::size_t>(chunk)];
    mine = mine * width + (rank ^ (chunk % width));
  }
  mpi::maximum(to.writers, most, to.policy, other_writers);
  std::vector<int> holders;
  for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
    const auto loudest = most[static_cast<std::size_t>(chunk)] % width;
    holders.push_back(static_cast<int>(loudest ^ (chunk % width)));
  }
  return holders;
}

// A chunk of one writer, and what it is made of.
struct OwnChunk {
  std::int64_t chunk = 0;
  std::span<const ChunkPart* const> parts{};
};

// The parts that the chunks in hand are made of.
struct Material {
  Arrived arrived{};
  Parts parts{};  // by chunk
};

// Makes chunks out of their parts, in any thread.
class Assembly {
 public:
  Assembly(const StepChunks& chunks, const ChunkOutput& output)
      : chunks_{chunks}, output_{output} {}

  void pack(const OwnChunk& own, Packed& to) const {
    const auto& of_variable = chunks_.of(own.chunk);
    const auto bytes = static_cast<std::size_t>(of_variable.chunks.bytes());
    const bool is_whole = own.parts.size() == 1 && own.parts[0]->bytes.size() == bytes;
    if (output_.encode) {
      auto scratch = output_.scratch.take();
      const auto room = is_whole ? std::span<std::byte>{} : scratch->room(bytes);
      if (!is_whole) {
        assemble(of_variable, own, room);
      }
      const double begin = now_seconds();
      output_.encode(of_variable.variable, is_whole ? own.parts[0]->bytes : room, to);
      to.seconds = now_seconds() - begin;
      output_.scratch.give_back(std::move(scratch));
    } else if (is_whole) {
      to.elsewhere = own.parts[0]->bytes;
    } else {
      to.bytes.resize(bytes);
      assemble(of_variable, own, to.bytes);
    }
  }

 private:
  void assemble(const StepChunks::OfVariable& of_variable, const OwnChunk& own,
                std::span<std::byte> whole) const {
    array::repeat(fill_bytes(of_variable.variable), whole);
    const std::int64_t begin = chunks_.elements(own.chunk).index;
    const std::size_t element = of_variable.chunks.element_bytes;
    for (const ChunkPart* part : own.parts) {
      const Selection& what = part->selection;
      const std::byte* from = part->bytes.data();
      array::RunCursor cursor{of_variable.variable.shape, what.box, what.first, what.count};
      array::Run run;
      while (cursor.next(run)) {
        const std::size_t length = static_cast<std::size_t>(run.elements) * element;
        array::copy_run(whole.data() + static_cast<std::size_t>(run.index - begin) * element, from,
                        length);
        from += length;
      }
    }
  }

  const StepChunks& chunks_;
  const ChunkOutput& output_;
};

// Tells which writer does what in which round. All writers have the same plan, except that each
// lists its own parts.
struct Plan {
  std::vector<int> owners;                        // by chunk
  std::vector<Parts> parts;                       // of this writer's, by round
  std::vector<std::vector<std::int64_t>> chunks;  // of this writer's, by round
  bool has_exchange = false;                      // some chunk has parts with several writers
};

std::size_t position(std::int64_t number) { return static_cast<std::size_t>(number); }

Plan plan_of(const StepChunks& chunks, const std::vector<ChunkPart>& own, const ChunkOutput& to,
             int rank, int size) {
  Plan plan;
  plan.owners = to.first_has_all ? std::vector<int>(position(chunks.count()), 0)
                                 : owners(chunks, holders(chunks, own, rank, size, to), size);
  const auto round = rounds(chunks, plan.owners, size, PackedWriter::round_bytes);
  const auto all = round.empty() ? 0 : position(*std::ranges::max_element(round)) + 1;
  plan.parts.resize(all);
  plan.chunks.resize(all);
  std::int64_t leaves = 0;
  for (const auto& part : own) {
    plan.parts[position(round[position(part.chunk)])].push_back(&part);
    leaves = plan.owners[position(part.chunk)] == rank ? leaves : 1;
  }
  for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
    if (plan.owners[position(chunk)] == rank) {
      plan.chunks[position(round[position(chunk)])].push_back(chunk);
    }
  }
  mpi::maximum(to.writers, std::span{&leaves, 1}, to.policy, other_writers);
  plan.has_exchange = leaves != 0;
  return plan;
}

}  // namespace

std::vector<StoredChunk> write_chunks(const StepChunks& chunks, const std::vector<ChunkPart>& own,
                                      const ChunkOutput& to, std::int64_t& end) {
  int rank = 0;
  int size = 1;
  mpi::check(MPI_Comm_rank(to.writers, &rank));
  mpi::check(MPI_Comm_size(to.writers, &size));
  const Plan plan = plan_of(chunks, own, to, rank, size);
  const Assembly assembly{chunks, to};
  std::vector<StoredChunk> stored;
  const auto begin = [&](std::size_t round) {
    auto material = std::make_shared<Material>();
    std::vector<Parts> leaving(position(size));
    for (const ChunkPart* part : plan.parts[round]) {
      const int owner = plan.owners[position(part->chunk)];
      (owner == rank ? material->parts : leaving[position(owner)]).push_back(part);
    }
    if (plan.has_exchange) {
      material->arrived = exchange(chunks, leaving, to.writers, to.policy);
      material->arrived.outcome.throw_unless_ok();
    }
    for (const auto& part : material->arrived.parts) {
      material->parts.push_back(&part);
    }
    std::ranges::stable_sort(material->parts, {}, &ChunkPart::chunk);
    std::vector<Pack> packs;
    for (const auto chunk : plan.chunks[round]) {
      const OwnChunk of_writer{
          chunk, std::ranges::equal_range(material->parts, chunk, {}, &ChunkPart::chunk)};
      packs.emplace_back(
          [&assembly, material, of_writer](Packed& packed) { assembly.pack(of_writer, packed); });
    }
    return packs;
  };
  const auto note = [&](std::size_t round, std::size_t part, const Packed& packed,
                        std::int64_t offset) {
    const std::int64_t chunk = plan.chunks[round][part];
    stored.push_back({chunk, {offset, std::ssize(packed.all()), packed.filter_mask}});
    if (to.encode) {
      to.compressed.raw_bytes += chunks.of(chunk).chunks.bytes();
      to.compressed.stored_bytes += std::ssize(packed.all());
      to.compressed.seconds += packed.seconds;
    }
  };
  to.writer.write({.rounds = plan.chunks.size(), .begin = begin, .note = note}, end);
  return stored;
}

}  // namespace iocomp::formats
