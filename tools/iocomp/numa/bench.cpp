// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numa/bench.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_domains.h"
#include "base/stream_copy.h"
#include "iocomp/numa/bound_run.h"
#include "iocomp/numa/placed_memory.h"
#include "iocomp/numa/trial.h"
#include "placement/writer_policy.h"
#include "placement/writer_seats.h"
#include "topology/node.h"

namespace iocomp::command {
namespace {

/// Shares begin at whole pages of any size that a page cache has.
constexpr std::size_t share_grain = std::size_t{64} << 10;

bool is_direct(Operation operation) {
  return operation == Operation::direct_write || operation == Operation::direct_read;
}

}  // namespace

/// A trial, divided: the source and the target of each move. Memory that is not used is empty.
struct NumaBench::Moves {
  Operation operation;
  std::vector<placement::SourcePart> parts;
  std::vector<int> threads;  ///< by thread: its domain
  std::vector<placement::Share> shares;
  std::vector<std::int64_t> offsets{};  ///< by part: in the file
  std::vector<PlacedMemory> sources{};  ///< by part
  std::vector<PlacedMemory> targets{};  ///< by share
};

NumaBench::NumaBench(topology::Node node, const std::string& directory, std::size_t bytes)
    : node_{std::move(node)},
      seats_{placement::writer_seats(node_)},
      bytes_{bytes},
      file_{directory} {}

std::optional<int> NumaBench::place_of(int domain) const {
  return node_.numa_domains == 1
             ? std::optional<int>{}
             : std::optional{node_.numa_numbers.at(static_cast<std::size_t>(domain))};
}

// O_DIRECT has one side in memory: the user's.
std::vector<PlacedMemory> NumaBench::sources_of(const Moves& moves) const {
  std::vector<PlacedMemory> sources;
  if (moves.operation != Operation::read) {
    for (const auto& part : moves.parts) {
      sources.emplace_back(part.bytes, place_of(part.domain));
    }
  }
  return sources;
}

std::vector<PlacedMemory> NumaBench::targets_of(const Moves& moves) const {
  std::vector<PlacedMemory> targets;
  if (moves.operation == Operation::read || moves.operation == Operation::copy) {
    for (const auto& share : moves.shares) {
      targets.emplace_back(share.bytes, place_of(share.target));
    }
  }
  return targets;
}

void NumaBench::prepare_file(const Moves& moves) {
  const auto total = static_cast<std::size_t>(moves.offsets.back()) + moves.parts.back().bytes;
  if (moves.operation == Operation::copy) {
    return;
  }
  file_.clear();
  if (moves.operation == Operation::direct_write) {
    file_.allocate(total);
  }
  if (moves.operation == Operation::read || moves.operation == Operation::direct_read) {
    const std::vector<std::byte> content(std::size_t{1} << 20, std::byte{1});
    for (std::size_t part = 0; part < moves.parts.size(); ++part) {
      std::optional<DomainPreference> there;
      if (const auto place = place_of(moves.parts[part].domain)) {
        there.emplace(*place);
      }
      for (std::size_t at = 0; at < moves.parts[part].bytes; at += content.size()) {
        const auto bytes = std::min(content.size(), moves.parts[part].bytes - at);
        file_.write(moves.offsets[part] + static_cast<std::int64_t>(at),
                    std::span{content}.first(bytes), false);
      }
    }
    file_.settle(moves.operation == Operation::direct_read);
  }
}

void NumaBench::move(const Moves& moves, std::size_t number) const {
  const auto& share = moves.shares[number];
  const auto offset = moves.offsets[share.part] + static_cast<std::int64_t>(share.begin);
  if (moves.operation == Operation::read) {
    file_.read(offset, moves.targets[number].bytes(), false);
    return;
  }
  const auto memory = moves.sources[share.part].bytes().subspan(share.begin, share.bytes);
  if (moves.operation == Operation::copy) {
    stream_copy(moves.targets[number].bytes().data(), memory.data(), memory.size());
  } else if (moves.operation == Operation::direct_read) {
    file_.read(offset, memory, true);
  } else {
    std::optional<DomainPreference> there;  // else pages come from the domain of the thread
    if (share.target != moves.threads[share.thread]) {
      there.emplace(place_of(share.target).value());
    }
    file_.write(offset, memory, moves.operation == Operation::direct_write);
  }
}

std::string NumaBench::misplaced(const Moves& moves) const {
  for (const auto* side : {&moves.sources, &moves.targets}) {
    for (const auto& memory : *side) {
      if (auto story = memory.misplaced(); !story.empty()) {
        return story;
      }
    }
  }
  if (moves.operation == Operation::read) {
    for (std::size_t part = 0; part < moves.parts.size(); ++part) {
      if (auto story = file_.misplaced(moves.offsets[part], moves.parts[part].bytes,
                                       place_of(moves.parts[part].domain));
          !story.empty()) {
        return story;
      }
    }
  }
  if (moves.operation == Operation::write) {
    for (const auto& share : moves.shares) {
      const auto offset = moves.offsets[share.part] + static_cast<std::int64_t>(share.begin);
      if (auto story = file_.misplaced(offset, share.bytes, place_of(share.target));
          !story.empty()) {
        return story;
      }
    }
  }
  return {};
}

Sample NumaBench::run(const Trial& trial) {
  Moves moves{.operation = trial.operation,
              .parts = parts_of(trial, bytes_),
              .threads = threads_of(trial),
              .shares = {}};
  moves.shares = placement::divide(node_, trial.policy, moves.parts, moves.threads, share_grain);
  std::int64_t end = 0;
  for (const auto& part : moves.parts) {
    moves.offsets.push_back(end);
    end += static_cast<std::int64_t>(part.bytes);
  }
  moves.sources = sources_of(moves);
  moves.targets = targets_of(moves);
  prepare_file(moves);

  std::vector<std::vector<std::size_t>> shares_of(moves.threads.size());
  for (std::size_t share = 0; share < moves.shares.size(); ++share) {
    shares_of[moves.shares[share].thread].push_back(share);
  }
  std::vector<BoundJob> jobs;
  for (std::size_t thread = 0; thread < shares_of.size(); ++thread) {
    if (!shares_of[thread].empty()) {
      const auto& seats = seats_.at(static_cast<std::size_t>(moves.threads[thread]));
      jobs.push_back({seats.at(thread % trial.threads), [this, &moves, &mine = shares_of[thread]] {
                        for (const std::size_t share : mine) {
                          move(moves, share);
                        }
                      }});
    }
  }
  Sample sample{.seconds = run_bound(binder_, jobs), .threads = jobs.size()};
  sample.misplaced = misplaced(moves);
  if (!is_direct(trial.operation) && trial.operation != Operation::copy) {
    file_.clear();
  }
  return sample;
}

}  // namespace iocomp::command
