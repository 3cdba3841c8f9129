// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/chunk_writer.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "array/copy_run.h"
#include "array/repeat.h"
#include "array/runs.h"
#include "base/clock.h"
#include "base/crew.h"
#include "base/error.h"
#include "base/joined_writes.h"
#include "base/scratch_memory.h"
#include "formats/hdf5/chunk_exchange.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/chunk_parts.h"
#include "formats/hdf5/chunk_threads.h"
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

// What one thread needs for one chunk after the other.
struct Bench {
  ChunkFilter filter;
  ScratchMemory chunk;
};

// Benches that no thread uses now.
class Benches {
 public:
  std::unique_ptr<Bench> take() {
    const std::scoped_lock lock{mutex_};
    if (free_.empty()) {
      return std::make_unique<Bench>();
    }
    auto bench = std::move(free_.back());
    free_.pop_back();
    return bench;
  }
  void give_back(std::unique_ptr<Bench> bench) {
    const std::scoped_lock lock{mutex_};
    free_.push_back(std::move(bench));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Bench>> free_;  // guarded by mutex_
};

// A chunk of one writer, on its way into the file.
struct OwnChunk {
  std::int64_t chunk = 0;
  std::span<const ChunkPart* const> parts{};
  std::vector<std::byte> filtered{};
  double seconds = 0;
};
using OwnChunks = std::vector<OwnChunk>;

// Chunks that are in hand at once, and what they are made of.
struct Round {
  Round() = default;
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  // Where something is thrown its jobs may be under way.
  ~Round() {
    if (jobs) {
      (void)Crew::finish(*jobs);
    }
  }

  Arrived arrived;
  Parts parts;  // by chunk
  OwnChunks chunks;
  std::shared_ptr<Crew::Batch> jobs{};
};

// What one writer does with his chunks. Their order, and so their place in the file, does not
// depend on the threads.
class Assembly {
 public:
  Assembly(const StepChunks& chunks, const ChunkOutput& to) : chunks_{chunks}, to_{to} {}

  // Filter the chunks of a round, beside what follows.
  void begin(Round& round) {
    std::vector<ChunkThreads::Job> jobs;
    for (OwnChunk& own : round.chunks) {
      jobs.emplace_back([this, &own] { filter(own); });
    }
    round.jobs = to_.threads.begin(std::move(jobs));
  }

  // Where threads of the others have still to do, this one goes on with the next round.
  [[nodiscard]] Outcome finish(Round& round, const Round* next) {
    if (!round.jobs) {
      return {};
    }
    const auto jobs = std::exchange(round.jobs, nullptr);
    const Outcome outcome = Crew::finish(*jobs, next == nullptr ? nullptr : next->jobs.get());
    for (const OwnChunk& own : round.chunks) {
      to_.compressed.raw_bytes += chunks_.of(own.chunk).chunks.bytes();
      to_.compressed.stored_bytes += std::ssize(own.filtered);
      to_.compressed.seconds += own.seconds;
    }
    return outcome;
  }

  // Write them, one behind the other, and forget them.
  void write(Round& round, std::int64_t offset, std::vector<StoredChunk>& stored) {
    JoinedWrites writes{to_.file, offset, to_.path};
    for (OwnChunk& own : round.chunks) {
      const auto filtered = std::exchange(own.filtered, {});
      stored.push_back({own.chunk, {writes.end(), std::ssize(filtered)}});
      writes.add(filtered);
    }
    writes.finish();
  }

 private:
  void filter(OwnChunk& own) {
    const auto& of_variable = chunks_.of(own.chunk);
    const auto bytes = static_cast<std::size_t>(of_variable.chunks.bytes());
    auto bench = benches_.take();
    std::span<const std::byte> whole;
    if (own.parts.size() == 1 && own.parts[0]->bytes.size() == bytes) {
      whole = own.parts[0]->bytes;
    } else {
      const auto room = bench->chunk.room(bytes);
      assemble(of_variable, own, room);
      whole = room;
    }
    const double begin = now_seconds();
    const auto filtered = bench->filter.filter(whole, of_variable.chunks.stored_bytes,
                                               of_variable.chunks.compression);
    own.seconds = now_seconds() - begin;
    own.filtered.assign(filtered.begin(), filtered.end());
    benches_.give_back(std::move(bench));
  }

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
  const ChunkOutput& to_;
  Benches benches_;
};

std::int64_t filtered_bytes(const Round& round) noexcept {
  std::int64_t bytes = 0;
  for (const OwnChunk& own : round.chunks) {
    bytes += std::ssize(own.filtered);
  }
  return bytes;
}

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
  Assembly assembly{chunks, to};
  std::vector<StoredChunk> stored;
  Outcome mine;
  const auto begin = [&](std::size_t number) {
    auto round = std::make_unique<Round>();
    std::vector<Parts> leaving(position(size));
    for (const ChunkPart* part : plan.parts[number]) {
      const int owner = plan.owners[position(part->chunk)];
      (owner == rank ? round->parts : leaving[position(owner)]).push_back(part);
    }
    if (plan.has_exchange) {
      round->arrived = exchange(chunks, leaving, to.writers, to.policy);
      mine = mine.ok() ? round->arrived.outcome : mine;
    }
    const Outcome begun = outcome_of([&] {
      for (const auto& part : round->arrived.parts) {
        round->parts.push_back(&part);
      }
      std::ranges::stable_sort(round->parts, {}, &ChunkPart::chunk);
      for (const auto chunk : plan.chunks[number]) {
        round->chunks.push_back(
            {chunk, std::ranges::equal_range(round->parts, chunk, {}, &ChunkPart::chunk)});
      }
      if (mine.ok()) {
        assembly.begin(*round);
      }
    });
    mine = mine.ok() ? begun : mine;
    return round;
  };
  // While the threads filter a round, this one writes the round before.
  std::unique_ptr<Round> next = plan.parts.empty() ? nullptr : begin(0);
  for (std::size_t number = 1; next != nullptr; ++number) {
    const auto round = std::exchange(next, number < plan.parts.size() ? begin(number) : nullptr);
    const Outcome filtered = assembly.finish(*round, next.get());
    mine = mine.ok() ? filtered : mine;
    const auto bytes = mpi::gather_to_all(to.writers, mine.ok() ? filtered_bytes(*round) : failed,
                                          to.policy, other_writers);
    if (std::ranges::find(bytes, failed) != bytes.end()) {
      break;
    }
    const std::int64_t offset = share_out(bytes, rank, to.options, end);
    mine = outcome_of([&] { assembly.write(*round, offset, stored); });
  }
  const Outcome common = mpi::agree(to.writers, mine, to.policy, other_writers);
  if (!common.ok()) {
    throw Error{common.code, common.story};
  }
  return stored;
}

}  // namespace iocomp::formats::h5
