// SPDX-License-Identifier: BSD-3-Clause
#include "client/block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/byte_order.h"
#include "array/checksum.h"
#include "array/conversion.h"
#include "array/decomposition.h"
#include "array/memory_box.h"
#include "array/pieces.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/crew.h"
#include "base/free_ranges.h"
#include "contents/variable.h"

namespace iocomp::client {
namespace {

constexpr std::size_t rounded_at_once_bytes = std::size_t{64} << 10;
constexpr std::size_t of_gpu_at_once_bytes = std::size_t{1} << 20;

}  // namespace

const std::byte* Block::first_value() const noexcept { return values + reach().first; }

std::pair<std::size_t, std::size_t> Block::reach() const noexcept {
  if (gather) {
    return {0, static_cast<std::size_t>(gather->reach()) * memory_element_bytes()};
  }
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(memory.shape.dimensions); ++d) {
    first = first * memory.shape.extent[d] + memory.box.start[d];
    last = last * memory.shape.extent[d] + memory.box.start[d] + memory.box.count[d] - 1;
  }
  return {static_cast<std::size_t>(first) * memory_element_bytes(),
          static_cast<std::size_t>(last + 1) * memory_element_bytes()};
}

void Block::copy_to(std::span<std::byte> packed, std::int64_t first, std::int64_t count,
                    bool swapped) const {
  const std::size_t element = element_bytes();
  const std::size_t number = array::number_bytes(variable.type);
  const auto copy_share = [&](std::span<std::byte> to, std::int64_t from) {
    if (swapped && is_dense()) {
      const auto* const begin = first_value() + static_cast<std::size_t>(from) * element;
      array::copy_swapped({begin, to.size()}, to, number);
      return;
    }
    pack(from, static_cast<std::int64_t>(to.size() / element), to.data());
    if (swapped) {
      array::swap_bytes(to, number);
    }
  };
  // Values of a GPU come through one stream. The first value, and not the array, tells on which
  // NUMA domain an array with gaps lies.
  Crew* const helpers = gpu ? nullptr : crew;
  const auto* const looked_at = helpers == nullptr ? values : value(first);
  share(helpers, {looked_at, static_cast<std::size_t>(count) * element}, element,
        [&](std::size_t begin, std::size_t end) {
          copy_share(packed.subspan(begin, end - begin),
                     first + static_cast<std::int64_t>(begin / element));
        });
}

const std::byte* Block::value(std::int64_t element) const noexcept {
  if (gather) {
    return values;
  }
  array::RunCursor cursor{memory.shape, memory.box, element, 1};
  array::Run run;
  return cursor.next(run) ? values + static_cast<std::size_t>(run.index) * memory_element_bytes()
                          : values;
}

template <typename Take>
void Block::visit_runs(std::int64_t first, std::int64_t count, const Take& take) const {
  if (gather) {
    gather->visit(first, count, take);
    return;
  }
  array::RunCursor cursor{memory.shape, memory.box, first, count};
  array::Run run;
  while (cursor.next(run)) {
    take(run.index, run.elements);
  }
}

template <typename Take>
void Block::visit_values(std::int64_t local, std::int64_t elements, const Take& take) const {
  const std::size_t element = memory_element_bytes();
  const std::size_t at = static_cast<std::size_t>(local) * element;
  const std::size_t bytes = static_cast<std::size_t>(elements) * element;
  if (!gpu) {
    take(std::span{values + at, bytes});
    return;
  }
  std::vector<std::byte> part(std::min(bytes, of_gpu_at_once_bytes));
  for (std::size_t done = 0; done < bytes; done += part.size()) {
    const auto now = std::span{part}.first(std::min(part.size(), bytes - done));
    gpu->read(at + done, now);
    take(std::span<const std::byte>{now});
  }
}

void Block::pack(std::int64_t first, std::int64_t count, std::byte* packed) const {
  if (!gpu && !conversion) {
    gather ? gather->pack(element_bytes(), values, first, count, packed)
           : array::pack(memory, element_bytes(), values, first, count, packed);
    return;
  }
  visit_runs(first, count, [&](std::int64_t local, std::int64_t elements) {
    if (!conversion) {
      const std::size_t bytes = static_cast<std::size_t>(elements) * element_bytes();
      gpu->read(static_cast<std::size_t>(local) * element_bytes(), {packed, bytes});
      packed += bytes;
      return;
    }
    visit_values(local, elements, [&](std::span<const std::byte> run) {
      conversion->convert(run, packed);
      packed += run.size() / memory_element_bytes() * element_bytes();
    });
  });
}

std::optional<Block::Unfit> Block::first_unfit() const {
  if (!conversion) {
    return std::nullopt;
  }
  const std::int64_t all = array::elements(region);
  const std::size_t element = memory_element_bytes();
  std::mutex mutex;
  std::optional<Unfit> found;
  const auto look = [&](std::int64_t first, std::int64_t behind) {
    std::int64_t at = first;
    bool has_found = false;
    visit_runs(first, behind - first, [&](std::int64_t local, std::int64_t elements) {
      visit_values(local, has_found ? 0 : elements, [&](std::span<const std::byte> run) {
        const auto unfit = has_found ? std::nullopt : conversion->first_unfit(run);
        if (unfit) {
          has_found = true;
          const std::scoped_lock lock{mutex};
          if (!found || at + *unfit < found->element) {
            found = {at + *unfit,
                     conversion->story(run.data() + static_cast<std::size_t>(*unfit) * element)};
          }
        }
        at += static_cast<std::int64_t>(run.size() / element);
      });
    });
  };
  Crew* const helpers = gpu ? nullptr : crew;
  share(helpers, {value(0), static_cast<std::size_t>(all) * element}, element,
        [&](std::size_t begin, std::size_t end) {
          look(static_cast<std::int64_t>(begin / element),
               static_cast<std::int64_t>(end / element));
        });
  return found;
}

std::size_t Block::page_remainder(std::int64_t first) const {
  if (array::elements(region) == 0) {
    return 0;
  }
  const auto index = static_cast<std::size_t>(array::index_of(variable.shape, region, first));
  return index * element_bytes() % FreeRanges::page_bytes;
}

void Block::lies_in(Copy packed) noexcept {
  values = packed.get();
  copy = std::move(packed);
  memory = array::dense_memory(array::elements(region));
  gather = nullptr;
  gpu = nullptr;
  conversion = nullptr;
}

// Values of a GPU travel once more for this.
std::uint64_t Block::checksum() const {
  if (!gpu && !conversion && variable.kept_bits == 0) {
    return array::checksum(variable.type, memory, values);
  }
  array::Checksum sum{variable.type};
  std::vector<std::byte> part(gpu ? of_gpu_at_once_bytes : rounded_at_once_bytes);
  const auto most = static_cast<std::int64_t>(part.size() / element_bytes());
  const std::int64_t all = array::elements(region);
  for (std::int64_t first = 0; first < all; first += most) {
    const std::int64_t count = std::min(most, all - first);
    const auto bytes = std::span{part}.first(static_cast<std::size_t>(count) * element_bytes());
    pack(first, count, bytes.data());
    contents::round_values(variable, bytes);
    sum.add(bytes);
  }
  return sum.value();
}

}  // namespace iocomp::client
