#include "reading/check_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "base/error.h"
#include "contents/description.h"
#include "formats/source.h"
#include "formats/sub_boxes.h"

namespace iocomp::reading {
namespace {

constexpr std::int64_t buffer_bytes = std::int64_t{8} << 20;

std::optional<Damage> compare(const contents::BlockSum& sum, std::uint64_t found) {
  if (found == sum.checksum) {
    return std::nullopt;
  }
  return Damage{sum.box, "the block " + array::text(sum.box) + " is damaged: its checksum is " +
                             array::hex(found) + ", it was put with " + array::hex(sum.checksum)};
}

std::uint64_t checksum_in(formats::Source& source, const contents::Placed& placed,
                          const array::Box& box, std::vector<std::byte>& buffer) {
  const auto element = static_cast<std::int64_t>(array::size_bytes(placed.variable.type));
  const std::int64_t all = array::elements(box);
  const std::int64_t part = std::max<std::int64_t>(1, buffer_bytes / element);
  array::Checksum sum{placed.variable.type};
  for (std::int64_t first = 0; first < all; first += part) {
    for (const auto& some : formats::sub_boxes(box, first, std::min(part, all - first))) {
      buffer.resize(static_cast<std::size_t>(array::elements(some) * element));
      source.read(placed, some, {array::make_memory_box(some, nullptr, nullptr), buffer.data()});
      sum.add(buffer);
    }
  }
  return sum.value();
}

}  // namespace

std::optional<Damage> find_damage(const contents::BlockSums& sums, array::ElementType type,
                                  const array::Box& box, const formats::Destination& read) {
  for (const auto& sum : sums ? std::span{*sums} : std::span<const contents::BlockSum>{}) {
    if (!array::contains(box, sum.box)) {
      continue;
    }
    array::MemoryBox memory = read.memory;
    memory.box.count = sum.box.count;
    for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
      memory.box.start[d] += sum.box.start[d] - box.start[d];
    }
    if (auto damage = compare(sum, array::checksum(type, memory, read.local))) {
      return damage;
    }
  }
  return std::nullopt;
}

Checked check_blocks(formats::Source& source, const contents::Placed& placed,
                     const std::function<void(const Damage&)>& tell) {
  const auto element = static_cast<std::int64_t>(array::size_bytes(placed.variable.type));
  Checked checked{.elements_without = array::elements(placed.variable.shape)};
  std::vector<std::byte> buffer;
  for (const auto& sum :
       placed.sums ? std::span{*placed.sums} : std::span<const contents::BlockSum>{}) {
    std::optional<Damage> damage;
    const Outcome read =
        outcome_of([&] { damage = compare(sum, checksum_in(source, placed, sum.box, buffer)); });
    if (!read.ok()) {
      damage =
          Damage{sum.box, "the block " + array::text(sum.box) + " cannot be read: " + read.story};
    }
    if (damage) {
      tell(*damage);
    }
    ++checked.blocks;
    checked.bytes += array::elements(sum.box) * element;
    checked.elements_without -= array::elements(sum.box);
  }
  return checked;
}

}  // namespace iocomp::reading
