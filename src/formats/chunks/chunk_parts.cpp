// SPDX-License-Identifier: BSD-3-Clause
#include "formats/chunks/chunk_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "array/box.h"
#include "array/runs.h"
#include "formats/chunks/record_chunks.h"
#include "formats/format.h"
#include "formats/words.h"

namespace iocomp::formats {
namespace {

// The row-major index of an element of the packed order of a box.
std::int64_t index_of(const array::Shape& shape, const array::Box& box, std::int64_t packed) {
  array::RunCursor cursor{shape, box, packed, 1};
  array::Run run;
  return cursor.next(run) ? run.index : 0;
}

}  // namespace

void StepChunks::add(const Variable& variable, const RecordChunks& chunks) {
  variables_.push_back({variable, chunks, count_});
  count_ += chunks.per_record;
}

const StepChunks::OfVariable& StepChunks::of(std::int64_t chunk) const {
  return *std::prev(std::ranges::upper_bound(variables_, chunk, {}, &OfVariable::first));
}

array::Run StepChunks::elements(std::int64_t chunk) const {
  const OfVariable& owner = of(chunk);
  const std::int64_t each = owner.chunks.elements;
  const std::int64_t begin = (chunk - owner.first) * each;
  return {begin, std::min(each, array::elements(owner.variable.shape) - begin)};
}

void StepChunks::cut(int variable, const Selection& selection, std::span<const std::byte> bytes,
                     std::vector<ChunkPart>& parts) const {
  const auto found = std::ranges::find(variables_, variable,
                                       [](const OfVariable& each) { return each.variable.id; });
  if (selection.count == 0 || found == variables_.end()) {
    return;
  }
  const array::Shape& shape = found->variable.shape;
  const std::int64_t each = found->chunks.elements;
  const std::int64_t end = selection.first + selection.count;
  std::int64_t chunk = index_of(shape, selection.box, selection.first) / each;
  for (std::int64_t at = selection.first; at < end; ++chunk) {
    const std::int64_t next =
        std::min(end, array::elements_below(shape, selection.box, (chunk + 1) * each));
    if (next > at) {
      const auto part = static_cast<std::size_t>(next - at) * found->chunks.element_bytes;
      parts.push_back({found->first + chunk, {selection.box, at, next - at}, bytes.first(part)});
      bytes = bytes.subspan(part);
      at = next;
    }
  }
}

std::vector<int> owners(const StepChunks& chunks, const std::vector<int>& holders, int writers) {
  std::int64_t total = 0;
  std::int64_t largest = 0;
  for (const auto& each : chunks.variables()) {
    total += each.chunks.all_bytes();
    largest = std::max(largest, each.chunks.bytes());
  }
  const std::int64_t most = total / writers + largest;
  std::vector<std::int64_t> load(static_cast<std::size_t>(writers), 0);
  std::vector<int> owners = holders;
  std::size_t next = 0;
  for (const auto& of_variable : chunks.variables()) {
    const std::int64_t bytes = of_variable.chunks.bytes();
    for (std::int64_t i = 0; i < of_variable.chunks.per_record; ++i) {
      int& owner = owners[static_cast<std::size_t>(of_variable.first + i)];
      if (load[static_cast<std::size_t>(owner)] + bytes > most) {
        while (load[next] + bytes > most) {
          ++next;  // has his share; all cannot have more than it
        }
        owner = static_cast<int>(next);
      }
      load[static_cast<std::size_t>(owner)] += bytes;
    }
  }
  return owners;
}

std::vector<int> rounds(const StepChunks& chunks, const std::vector<int>& owners, int writers,
                        std::int64_t most_bytes) {
  struct Round {
    int number = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Round> current(static_cast<std::size_t>(writers));
  std::vector<int> rounds;
  rounds.reserve(owners.size());
  for (const auto& of_variable : chunks.variables()) {
    const std::int64_t bytes = of_variable.chunks.bytes();
    for (std::int64_t i = 0; i < of_variable.chunks.per_record; ++i) {
      Round& round = current[static_cast<std::size_t>(owners[rounds.size()])];
      if (round.bytes > 0 && round.bytes + bytes > most_bytes) {
        round = {round.number + 1, 0};
      }
      round.bytes += bytes;
      rounds.push_back(round.number);
    }
  }
  return rounds;
}

}  // namespace iocomp::formats
