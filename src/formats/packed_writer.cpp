// SPDX-License-Identifier: BSD-3-Clause
#include "formats/packed_writer.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/crew.h"
#include "base/error.h"
#include "mpi/agree.h"
#include "mpi/error.h"

namespace iocomp::formats {
namespace {

constexpr std::int64_t failed_round = -1;

// Returns the offset for the bytes of this writer: behind those of the writers before it, so that
// no two share a page. Moves `end` behind them all.
std::int64_t share_out(const std::vector<std::int64_t>& bytes, int rank, std::int64_t alignment,
                       std::int64_t& end) {
  std::int64_t own = end;
  for (std::size_t writer = 0; writer < bytes.size(); ++writer) {
    own = writer == static_cast<std::size_t>(rank) ? end : own;
    end += checked_round_up(bytes[writer], alignment);
  }
  return own;
}

}  // namespace

// Parts that are in hand at once, and the jobs that pack them.
struct PackedWriter::Round {
  Round() = default;
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  // When an exception is thrown, jobs of the round may be under way.
  ~Round() {
    if (jobs) {
      (void)Crew::finish(*jobs);
    }
  }
  // While other threads finish this round, the calling thread goes on with the next one.
  [[nodiscard]] Outcome finish(const Round* next) {
    if (!jobs) {
      return {};
    }
    return Crew::finish(*std::exchange(jobs, nullptr),
                        next == nullptr ? nullptr : next->jobs.get());
  }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    std::int64_t sum = 0;
    for (const Packed& each : packed) {
      sum += std::ssize(each.all());
    }
    return sum;
  }

  std::vector<Pack> parts;
  std::vector<Packed> packed;  // as many
  std::shared_ptr<Crew::Batch> jobs;
};

std::unique_ptr<PackedWriter::Round> PackedWriter::round_of(std::vector<Pack> parts) {
  auto round = std::make_unique<Round>();
  round->parts = std::move(parts);
  round->packed.resize(round->parts.size());
  std::vector<Crew::Job> jobs;
  for (std::size_t part = 0; part < round->parts.size(); ++part) {
    Packed& packed = round->packed[part];
    if (!spare_.empty()) {
      packed = std::move(spare_.back());
      packed.elsewhere = {};
      spare_.pop_back();
    }
    jobs.emplace_back([&pack = round->parts[part], &packed] { pack(packed); });
  }
  round->jobs = crew_->begin(std::move(jobs));
  return round;
}

void PackedWriter::append(Round& round, std::size_t number, std::int64_t offset,
                          const Packing& packing, std::unique_ptr<JoinedWrites>& writes) {
  if (writes == nullptr && !round.packed.empty()) {
    if (terms_.open) {
      terms_.open();
    }
    writes = std::make_unique<JoinedWrites>(terms_.file, terms_.path, terms_.bypasses_cache);
  }
  for (std::size_t part = 0; part < round.packed.size(); ++part) {
    const auto bytes = round.packed[part].all();
    packing.note(number, part, round.packed[part], offset);
    writes->add(offset, bytes);
    offset += std::ssize(bytes);
  }
  if (writes != nullptr) {
    writes->finish();
  }
  std::ranges::move(round.packed, std::back_inserter(spare_));
}

void PackedWriter::write(const Packing& packing, std::int64_t& end) {
  int rank = 0;
  mpi::check(MPI_Comm_rank(terms_.writers, &rank));
  Outcome mine;
  std::unique_ptr<JoinedWrites> writes;
  // It begins on all writers, since parts may change hands there.
  const auto begin = [&](std::size_t number) {
    std::unique_ptr<Round> round = std::make_unique<Round>();
    const Outcome begun = outcome_of([&] {
      std::vector<Pack> parts = packing.begin(number);
      if (mine.ok()) {
        round = round_of(std::move(parts));
      }
    });
    mine = mine.ok() ? begun : mine;
    return round;
  };
  std::unique_ptr<Round> next = packing.rounds == 0 ? nullptr : begin(0);
  for (std::size_t number = 0; next != nullptr; ++number) {
    const auto round =
        std::exchange(next, number + 1 < packing.rounds ? begin(number + 1) : nullptr);
    const Outcome packed = round->finish(next.get());
    mine = mine.ok() ? packed : mine;
    const auto bytes = mpi::gather_to_all(terms_.writers, mine.ok() ? round->bytes() : failed_round,
                                          terms_.policy, terms_.others);
    if (std::ranges::find(bytes, failed_round) != bytes.end()) {
      break;
    }
    const std::int64_t offset = share_out(bytes, rank, terms_.alignment_bytes, end);
    mine = outcome_of([&] { append(*round, number, offset, packing, writes); });
  }
  mpi::agree(terms_.writers, mine, terms_.policy, terms_.others).throw_unless_ok();
}

}  // namespace iocomp::formats
