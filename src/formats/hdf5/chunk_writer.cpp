#include "formats/hdf5/chunk_writer.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "array/copy_run.h"
#include "array/repeat.h"
#include "array/runs.h"
#include "base/error.h"
#include "base/write_plainly.h"
#include "formats/hdf5/chunk_exchange.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/chunk_parts.h"
#include "formats/hdf5/time_dataset.h"
#include "mpi/agree.h"
#include "mpi/error.h"

namespace iocomp::formats::h5 {
namespace {

constexpr const char* other_writers = "the other writers of a compressed step";
constexpr std::int64_t round_bytes = std::int64_t{64} << 20;
constexpr std::int64_t failed = -1;

using Parts = std::vector<const ChunkPart*>;

// Who has most of each chunk; where several have as much, one after the other in turn.
std::vector<int> holders(const StepChunks& chunks, const std::vector<ChunkPart>& own, int rank,
                         int size, const ChunkOutput& to) {
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
  mpi::maximum(to.writers, most, to.policy, other_writers);
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
    chunk_.resize(bytes);
    array::repeat(fill_bytes(of_variable.variable), chunk_);
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

// Who does what in which round; the same on all writers, but for whose parts these are.
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
  plan.owners = owners(chunks, holders(chunks, own, rank, size, to), size);
  const auto round = rounds(chunks, plan.owners, size, round_bytes);
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

// Where each writer puts what he has, behind those before him, so that no page is shared.
std::int64_t share_out(const std::vector<std::int64_t>& bytes, int rank,
                       const FormatOptions& options, std::int64_t& end) {
  const std::int64_t alignment = std::max<std::int64_t>(options.alignment_bytes, 1);
  std::int64_t own = end;
  for (std::size_t writer = 0; writer < bytes.size(); ++writer) {
    own = writer == position(rank) ? end : own;
    end += (bytes[writer] + alignment - 1) / alignment * alignment;
  }
  return own;
}

}  // namespace

std::vector<StoredChunk> write_chunks(const StepChunks& chunks, const std::vector<ChunkPart>& own,
                                      const ChunkOutput& to, std::int64_t& end) {
  int rank = 0;
  int size = 1;
  mpi::check(MPI_Comm_rank(to.writers, &rank));
  mpi::check(MPI_Comm_size(to.writers, &size));
  const Plan plan = plan_of(chunks, own, to, rank, size);
  Assembly assembly{to.options};
  std::vector<StoredChunk> stored;
  Outcome mine;
  for (std::size_t round = 0; round < plan.parts.size(); ++round) {
    Parts here;
    std::vector<Parts> leaving(position(size));
    for (const ChunkPart* part : plan.parts[round]) {
      const int owner = plan.owners[position(part->chunk)];
      (owner == rank ? here : leaving[position(owner)]).push_back(part);
    }
    Arrived arrived;
    if (plan.has_exchange) {
      arrived = exchange(chunks, leaving, to.writers, to.policy);
      mine = mine.ok() ? arrived.outcome : mine;
    }
    if (mine.ok()) {
      mine = outcome_of([&] {
        for (const auto& part : arrived.parts) {
          here.push_back(&part);
        }
        std::ranges::stable_sort(here, {}, &ChunkPart::chunk);
        for (const auto chunk : plan.chunks[round]) {
          assembly.add(chunks, chunk, std::ranges::equal_range(here, chunk, {}, &ChunkPart::chunk));
        }
      });
    }
    arrived = {};
    const auto bytes = mpi::gather_to_all(to.writers, mine.ok() ? assembly.bytes() : failed,
                                          to.policy, other_writers);
    if (std::ranges::find(bytes, failed) != bytes.end()) {
      break;
    }
    const std::int64_t offset = share_out(bytes, rank, to.options, end);
    mine = outcome_of([&] { assembly.write(to, offset, stored); });
  }
  const Outcome common = mpi::agree(to.writers, mine, to.policy, other_writers);
  if (!common.ok()) {
    throw Error{common.code, common.story};
  }
  return stored;
}

}  // namespace iocomp::formats::h5
