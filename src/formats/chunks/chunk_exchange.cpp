// SPDX-License-Identifier: BSD-3-Clause
#include "formats/chunks/chunk_exchange.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/checked.h"
#include "base/error.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/format.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::formats {
namespace {

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

}  // namespace

Arrived exchange(const StepChunks& chunks,
                 const std::vector<std::vector<const ChunkPart*>>& leaving, MPI_Comm writers,
                 const mpi::WaitPolicy& policy) {
  std::vector<Message> out;
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
  std::vector<Message> in;
  std::vector<MPI_Request> requests;
  if (mine.ok()) {
    mine = outcome_of([&] {
      in = room(words_in, bytes_in);
      requests.reserve(2 * (in.size() + out.size()));
    });
  }
  mpi::agree(writers, mine, policy, others).throw_unless_ok();
  for (auto& message : in) {
    mpi::check(MPI_Irecv(message.words.data(), checked_cast<int>(message.words.size()), MPI_INT64_T,
                         message.rank, words_tag, writers, &requests.emplace_back()));
    mpi::check(MPI_Irecv(MPI_BOTTOM, 1, message.bytes.raw(), message.rank, bytes_tag, writers,
                         &requests.emplace_back()));
  }
  for (const auto& message : out) {
    mpi::check(MPI_Isend(message.words.data(), checked_cast<int>(message.words.size()), MPI_INT64_T,
                         message.rank, words_tag, writers, &requests.emplace_back()));
    mpi::check(MPI_Isend(MPI_BOTTOM, 1, message.bytes.raw(), message.rank, bytes_tag, writers,
                         &requests.emplace_back()));
  }
  for (auto& request : requests) {
    mpi::wait(request, policy, others);
  }
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

}  // namespace iocomp::formats
