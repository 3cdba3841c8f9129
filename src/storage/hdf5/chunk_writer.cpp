#include "storage/hdf5/chunk_writer.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "array/copy_run.h"
#include "array/runs.h"
#include "base/error.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "storage/hdf5/chunk_exchange.h"
#include "storage/hdf5/chunk_filter.h"
#include "storage/hdf5/chunk_parts.h"
#include "storage/hdf5/time_dataset.h"
#include "storage/write_plainly.h"

namespace iocomp::storage::h5 {
namespace {

constexpr const char* others = "the other writers of a compressed step";
constexpr std::int64_t round_bytes = std::int64_t{64} << 20;
constexpr std::int64_t failed = -1;

using Parts = std::vector<const ChunkPart*>;

void throw_if_failed(const Outcome& outcome) {
  if (!outcome.ok()) {
    throw Error{outcome.code, outcome.story};
  }
}

// Who has most of each chunk; where several have as much, one after the other in turn.
std::vector<int> holders(const StepChunks& chunks, const std::vector<ChunkPart>& own, int rank,
                         int size, MPI_Comm writers) {
  std::vector<std::int64_t> most(static_cast<std::size_t>(chunks.count()), 0);
  for (const auto& part : own) {
    most[static_cast<std::size_t>(part.chunk)] += part.selection.count;
  }
  const auto after = [size](std::int64_t one, std::int64_t other) {
    return ((one - other) % size + size) % size;
  };
  for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
    auto& mine = most[static_cast<std::size_t>(chunk)];
    mine = mine * size + (size - 1 - after(rank, chunk));
  }
  mpi::maximum(writers, most, {}, others);
  std::vector<int> holders;
  for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
    const auto loudest = most[static_cast<std::size_t>(chunk)];
    holders.push_back(static_cast<int>((chunk + size - 1 - loudest % size) % size));
  }
  return holders;
}

// What one writer does with his chunks.
class Assembly {
 public:
  explicit Assembly(const FormatOptions& options)
      : filter_{options.deflate_level, options.shuffle} {}

  // Filter one chunk, of these parts, behind the others of this round.
  void add(const StepChunks& chunks, std::int64_t chunk, std::span<const ChunkPart* const> parts) {
    const auto& of_variable = chunks.of(chunk);
    const auto bytes = static_cast<std::size_t>(of_variable.chunks.bytes());
    std::span<const std::byte> whole;
    if (parts.size() == 1 && parts[0]->bytes.size() == bytes) {
      whole = parts[0]->bytes;
    } else {
      assemble(of_variable, chunks.elements(chunk).index, parts, bytes);
      whole = chunk_;
    }
    const std::int64_t before = std::ssize(filtered_);
    filter_.append(whole, of_variable.chunks.element_bytes, filtered_);
    stored_.push_back({chunk, {before, std::ssize(filtered_) - before}});
  }

  [[nodiscard]] std::int64_t bytes() const noexcept { return std::ssize(filtered_); }

  void write(const ChunkOutput& to, std::int64_t offset, std::vector<StoredChunk>& stored) {
    write_plainly(to.file, offset, filtered_, to.path);
    for (auto& chunk : stored_) {
      chunk.where.offset += offset;
      stored.push_back(chunk);
    }
    filtered_.clear();
    stored_.clear();
  }

 private:
  void assemble(const StepChunks::OfVariable& of_variable, std::int64_t begin,
                std::span<const ChunkPart* const> parts, std::size_t bytes) {
    const auto value = fill_bytes(of_variable.variable);
    chunk_.resize(bytes);
    for (std::size_t at = 0; at < bytes; at += value.size()) {
      array::copy_run(chunk_.data() + at, value.data(), value.size());
    }
    const std::size_t element = of_variable.chunks.element_bytes;
    for (const ChunkPart* part : parts) {
      const Selection& what = part->selection;
      const std::byte* from = part->bytes.data();
      array::RunCursor cursor{of_variable.variable.shape, what.box, what.first, what.count};
      array::Run run;
      while (cursor.next(run)) {
        const std::size_t length = static_cast<std::size_t>(run.elements) * element;
        array::copy_run(chunk_.data() + static_cast<std::size_t>(run.index - begin) * element, from,
                        length);
        from += length;
      }
    }
  }

  ChunkFilter filter_;
  std::vector<std::byte> chunk_;
  std::vector<std::byte> filtered_;
  std::vector<StoredChunk> stored_;  // from the first of the filtered bytes
};

}  // namespace

std::vector<StoredChunk> write_chunks(const StepChunks& chunks, const std::vector<ChunkPart>& own,
                                      const ChunkOutput& to, std::int64_t& end) {
  int rank = 0;
  int size = 1;
  mpi::check(MPI_Comm_rank(to.writers, &rank));
  mpi::check(MPI_Comm_size(to.writers, &size));
  const auto owner = owners(chunks, holders(chunks, own, rank, size, to.writers), size);
  const auto round = rounds(chunks, owner, size, round_bytes);
  const auto number = [](std::int64_t chunk) { return static_cast<std::size_t>(chunk); };
  const int all_rounds = round.empty() ? 0 : *std::ranges::max_element(round) + 1;
  std::vector<Parts> own_of_round(static_cast<std::size_t>(all_rounds));
  std::vector<std::vector<std::int64_t>> chunks_of_round(own_of_round.size());
  std::int64_t others_need_mine = 0;
  for (const auto& part : own) {
    own_of_round[number(round[number(part.chunk)])].push_back(&part);
    others_need_mine |= owner[number(part.chunk)] == rank ? 0 : 1;
  }
  for (std::int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
    if (owner[number(chunk)] == rank) {
      chunks_of_round[number(round[number(chunk)])].push_back(chunk);
    }
  }
  mpi::maximum(to.writers, std::span{&others_need_mine, 1}, {}, others);

  Assembly assembly{to.options};
  std::vector<StoredChunk> stored;
  Outcome mine;
  for (std::size_t now = 0; now < own_of_round.size(); ++now) {
    Parts here;
    std::vector<Parts> leaving(number(size));
    for (const ChunkPart* part : own_of_round[now]) {
      const int to_whom = owner[number(part->chunk)];
      (to_whom == rank ? here : leaving[number(to_whom)]).push_back(part);
    }
    Arrived arrived;
    if (others_need_mine != 0) {
      arrived = exchange(chunks, leaving, to.writers);
    }
    std::int64_t bytes = failed;
    if (mine.ok()) {
      mine = outcome_of([&] {
        for (const auto& part : arrived.parts) {
          here.push_back(&part);
        }
        std::ranges::stable_sort(here, {}, &ChunkPart::chunk);
        for (const auto chunk : chunks_of_round[now]) {
          assembly.add(chunks, chunk, std::ranges::equal_range(here, chunk, {}, &ChunkPart::chunk));
        }
        bytes = assembly.bytes();
      });
    }
    arrived = {};
    // Each begins where it shares no page with another.
    std::int64_t offset = end;
    const auto all = mpi::gather_to_all(to.writers, bytes, {}, others);
    for (int writer = 0; writer < size; ++writer) {
      const std::int64_t alignment = std::max<std::int64_t>(to.options.alignment_bytes, 1);
      offset = writer == rank ? end : offset;
      end += (all[number(writer)] + alignment - 1) / alignment * alignment;
    }
    if (std::ranges::find(all, failed) != all.end()) {
      break;
    }
    mine = outcome_of([&] { assembly.write(to, offset, stored); });
  }
  throw_if_failed(mpi::agree(to.writers, mine, {}, others));
  return stored;
}

}  // namespace iocomp::storage::h5
