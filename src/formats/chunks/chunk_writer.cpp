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

#include "array/box.h"
#include "array/copy_run.h"
#include "array/region.h"
#include "array/repeat.h"
#include "array/runs.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/format.h"
#include "formats/packed_writer.h"
#include "formats/write_region.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/under_way.h"
#include "mpi/wait_policy.h"

namespace iocomp::formats {

namespace {

/// The parts that came from other writers, with the memory that they lie in; or why they cannot be
/// used.
struct Arrived {
  using Memory = std::unique_ptr<std::byte[]>;
  Outcome outcome;
  std::vector<ChunkPart> parts;
  std::vector<Memory> memory;
};

constexpr int words_tag = 1;
constexpr int bytes_tag = 2;
constexpr const char* others = "the other writers of a compressed step";
// MPI counts the bytes of a block in 31 bits.
constexpr std::size_t most_in_block = std::size_t{1} << 30;

using Words = std::vector<std::int64_t>;

// A part as numbers: its chunk, its elements, and where they are: the index of the first where they
// follow one another in the array, else -1, the first one in the box, and the box.
void append(const StepChunks& chunks, const ChunkPart& part, Words& words) {
  const Selection& what = part.selection;
  const array::Shape& shape = chunks.of(part.chunk).variable.shape;
  array::RunCursor cursor{shape, what.box, what.first, what.count};
  array::Run run;
  const bool is_one_run = cursor.next(run) && run.elements == what.count;
  words.insert(words.end(), {part.chunk, what.count, is_one_run ? run.index : -1});
  if (!is_one_run) {
    words.push_back(what.first);
    const auto dimensions = static_cast<std::size_t>(shape.dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
      words.insert(words.end(), {what.box.start.at(d), what.box.count.at(d)});
    }
  }
}

void read(const StepChunks& chunks, std::span<const std::int64_t> words,
          std::span<const std::byte> bytes, std::vector<ChunkPart>& parts) {
  while (!words.empty()) {
    ChunkPart part;
    part.chunk = words[0];
    const auto& of_variable = chunks.of(part.chunk);
    const array::Shape& shape = of_variable.variable.shape;
    part.selection = {array::whole(shape), words[2], words[1]};
    if (words[2] < 0) {
      part.selection.first = words[3];
      for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
        part.selection.box.start.at(d) = words[4 + 2 * d];
        part.selection.box.count.at(d) = words[5 + 2 * d];
      }
      words = words.subspan(1 + 2 * static_cast<std::size_t>(shape.dimensions));
    }
    words = words.subspan(3);
    const auto length =
        static_cast<std::size_t>(part.selection.count) * of_variable.chunks.element_bytes;
    part.bytes = bytes.first(length);
    bytes = bytes.subspan(length);
    parts.push_back(std::move(part));
  }
}

// Bytes as one message of any length.
mpi::Datatype type_of(std::span<const std::byte> bytes) {
  std::vector<MPI_Aint> addresses;
  std::vector<int> lengths;
  while (!bytes.empty()) {
    const auto now = bytes.first(std::min(bytes.size(), most_in_block));
    MPI_Aint address = 0;
    mpi::check(MPI_Get_address(now.data(), &address));
    addresses.push_back(address);
    lengths.push_back(static_cast<int>(now.size()));
    bytes = bytes.subspan(now.size());
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  mpi::check(MPI_Type_create_hindexed(checked_cast<int>(lengths.size()), lengths.data(),
                                      addresses.data(), MPI_BYTE, &made));
  mpi::Datatype owned{made};
  mpi::check(MPI_Type_commit(&made));
  return owned;
}

// A message to, or from, one other writer.
struct Message {
  int rank = 0;
  Words words;
  Arrived::Memory packed{};
  mpi::Datatype bytes{};
};

// Packs parts: MPI moves bytes that lie together at once, and others by little pieces.
std::vector<Message> packed(const StepChunks& chunks,
                            const std::vector<std::vector<const ChunkPart*>>& leaving,
                            const Words& bytes) {
  std::vector<Message> messages;
  for (std::size_t rank = 0; rank < leaving.size(); ++rank) {
    const auto& parts = leaving[rank];
    if (parts.empty()) {
      continue;
    }
    Message message{static_cast<int>(rank), {}};
    for (const ChunkPart* part : parts) {
      append(chunks, *part, message.words);
    }
    auto together = parts.front()->bytes;
    if (parts.size() > 1) {
      const auto all = static_cast<std::size_t>(bytes[rank]);
      message.packed = std::make_unique_for_overwrite<std::byte[]>(all);
      std::byte* to = message.packed.get();
      for (const ChunkPart* part : parts) {
        to = std::ranges::copy(part->bytes, to).out;
      }
      together = {message.packed.get(), all};
    }
    message.bytes = type_of(together);
    messages.push_back(std::move(message));
  }
  return messages;
}

// Memory for what the others announced.
std::vector<Message> room(const Words& words, const Words& bytes) {
  std::vector<Message> messages;
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    if (words[rank] > 0) {
      const auto all = static_cast<std::size_t>(bytes[rank]);
      Message message{static_cast<int>(rank), Words(static_cast<std::size_t>(words[rank])),
                      std::make_unique_for_overwrite<std::byte[]>(all)};
      message.bytes = type_of({message.packed.get(), all});
      messages.push_back(std::move(message));
    }
  }
  return messages;
}

// Sends parts of chunks to other writers, and takes in theirs. Collective over `writers`; waits
// asleep.
// @param leaving  the parts that go to each writer; none for this one.
// @throws on all writers or on none.
Arrived exchange(const StepChunks& chunks,
                 const std::vector<std::vector<const ChunkPart*>>& leaving, MPI_Comm writers,
                 const mpi::WaitPolicy& policy) {
  struct Messages {
    std::vector<Message> in;
    std::vector<Message> out;
  };
  mpi::UnderWay<Messages> way{writers};
  auto& in = way.memory().in;
  auto& out = way.memory().out;
  Words words(leaving.size(), 0);
  Words bytes(leaving.size(), 0);
  Outcome mine = outcome_of([&] {
    for (std::size_t rank = 0; rank < leaving.size(); ++rank) {
      for (const ChunkPart* part : leaving[rank]) {
        bytes[rank] += std::ssize(part->bytes);
      }
    }
    out = packed(chunks, leaving, bytes);
    for (const auto& message : out) {
      words[static_cast<std::size_t>(message.rank)] = std::ssize(message.words);
    }
  });
  const Words words_in = mpi::to_each(writers, std::move(words), policy, others);
  const Words bytes_in = mpi::to_each(writers, bytes, policy, others);
  Arrived arrived;
  if (mine.ok()) {
    mine = outcome_of([&] {
      in = room(words_in, bytes_in);
      way.requests().reserve(2 * (in.size() + out.size()));
    });
  }
  mpi::agree(writers, mine, policy, others).throw_unless_ok();
  for (auto& message : in) {
    mpi::check(MPI_Irecv(message.words.data(), checked_cast<int>(message.words.size()), MPI_INT64_T,
                         message.rank, words_tag, writers, way.next()));
    mpi::check(MPI_Irecv(MPI_BOTTOM, 1, message.bytes.raw(), message.rank, bytes_tag, writers,
                         way.next()));
  }
  for (const auto& message : out) {
    mpi::check(MPI_Isend(message.words.data(), checked_cast<int>(message.words.size()), MPI_INT64_T,
                         message.rank, words_tag, writers, way.next()));
    mpi::check(MPI_Isend(MPI_BOTTOM, 1, message.bytes.raw(), message.rank, bytes_tag, writers,
                         way.next()));
  }
  way.wait(policy, others);
  arrived.outcome = outcome_of([&] {
    for (auto& message : in) {
      const auto length =
          static_cast<std::size_t>(bytes_in[static_cast<std::size_t>(message.rank)]);
      read(chunks, message.words, {message.packed.get(), length}, arrived.parts);
      arrived.memory.push_back(std::move(message.packed));
    }
  });
  return arrived;
}

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
  mpi::maximum(to.writers, most, to.policy, others);
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
    const std::int64_t begin = chunks_.elements(own.chunk).index *
                               static_cast<std::int64_t>(of_variable.chunks.element_bytes);
    for (const ChunkPart* part : own.parts) {
      for_each_run(of_variable.variable, part->selection, part->bytes,
                   [&](std::int64_t place, auto run) {
                     array::copy_run(whole.data() + (place - begin), run.data(), run.size());
                   });
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
  mpi::maximum(to.writers, std::span{&leaves, 1}, to.policy, others);
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
