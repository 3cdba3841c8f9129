// SPDX-License-Identifier: BSD-3-Clause
#include "reading/check_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "array/region.h"
#include "base/crew.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "contents/description.h"
#include "formats/part_copy.h"
#include "formats/source.h"
#include "formats/sub_boxes.h"
#include "reading/committed.h"

namespace iocomp::reading {
namespace {

constexpr std::int64_t buffer_bytes = std::int64_t{8} << 20;

std::span<const contents::BlockSum> listed(const contents::BlockSums& sums) {
  return sums ? std::span{*sums} : std::span<const contents::BlockSum>{};
}

std::optional<Damage> compare(const contents::BlockSum& sum, std::uint64_t found) {
  if (found == sum.checksum) {
    return std::nullopt;
  }
  return Damage{sum.box, "the block " + array::text(sum.box) + " is damaged: its checksum is " +
                             array::hex(found) + ", it was put with " + array::hex(sum.checksum)};
}

// Read a box part by part, and have `use` called with the bytes of each.
template <typename Use>
void read_in_parts(formats::Source& source, const contents::Placed& placed, const array::Box& box,
                   std::vector<std::byte>& buffer, const Use& use) {
  const auto element = static_cast<std::int64_t>(array::size_bytes(placed.variable.type));
  const std::int64_t all = array::elements(box);
  const std::int64_t part = std::max<std::int64_t>(1, buffer_bytes / element);
  for (std::int64_t first = 0; first < all; first += part) {
    for (const auto& some : formats::sub_boxes(box, first, std::min(part, all - first))) {
      buffer.resize(static_cast<std::size_t>(array::elements(some) * element));
      source.read(placed, some, {array::make_memory_box(some, nullptr, nullptr), buffer.data()});
      use(buffer);
    }
  }
}

std::uint64_t checksum_in(formats::Source& source, const contents::Placed& placed,
                          const array::Box& box, std::vector<std::byte>& buffer) {
  array::Checksum sum{placed.variable.type};
  read_in_parts(source, placed, box, buffer, [&](const auto& bytes) { sum.add(bytes); });
  return sum.value();
}

// All threads look at the blocks, if there are several.
template <typename Look>
std::optional<Damage> find_first_damage(const std::vector<const contents::BlockSum*>& blocks,
                                        Crew* crew, const Look& look) {
  std::vector<std::optional<Damage>> damages(blocks.size());
  std::vector<Crew::Job> jobs;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (crew != nullptr) {
      jobs.emplace_back([&, i] { damages[i] = look(*blocks[i]); });
    } else if (auto damage = look(*blocks[i])) {
      return damage;
    }
  }
  const Outcome looked = crew == nullptr ? Outcome{} : crew->run(std::move(jobs));
  looked.throw_unless_ok();
  const auto first = std::ranges::find_if(damages, [](const auto& one) { return one.has_value(); });
  return first == damages.end() ? std::nullopt : std::move(*first);
}

}  // namespace

std::optional<Damage> find_damage(const contents::BlockSums& sums, array::ElementType type,
                                  const array::Box& box, const formats::Destination& read) {
  std::vector<const contents::BlockSum*> inside;
  for (const auto& sum : listed(sums)) {
    if (array::contains(box, sum.box)) {
      inside.push_back(&sum);
    }
  }
  const auto look = [&](const contents::BlockSum& sum) {
    return compare(sum, array::checksum(type, formats::memory_of(sum.box, box, read), read.local));
  };
  const std::size_t bytes =
      static_cast<std::size_t>(array::elements(box)) * array::size_bytes(type);
  const bool is_divided = read.crew != nullptr && inside.size() > 1 && read.crew->divides(bytes);
  return find_first_damage(inside, is_divided ? read.crew : nullptr, look);
}

Checked check_all(const Committed& committed, const std::string& modules,
                  const std::function<void(const Finding&)>& tell) {
  for (const auto& torn : committed.torn) {
    tell({.path = {}, .step = torn.step, .story = torn.story});
  }
  Checked checked;
  std::vector<std::byte> buffer;
  std::unique_ptr<formats::Source> source;
  std::int32_t opened = -1;
  const auto folder = std::make_shared<const OpenFolder>(committed.folder.path, committed.said);
  for (const auto& of_step : committed.steps) {
    const std::int64_t step = of_step.number;
    const auto& file = committed.files.at(static_cast<std::size_t>(of_step.file));
    if (opened != of_step.file) {
      opened = of_step.file;
      source.reset();
      const Outcome opening = outcome_of(
          [&] { source = committed.open(static_cast<std::size_t>(opened), folder, modules); });
      if (!opening.ok()) {
        tell({.path = committed.text(file), .step = step, .story = opening.story});
      }
    }
    for (std::size_t v = 0; source && v < committed.variables.size(); ++v) {
      const auto& name = committed.variables[v].name;
      const auto& places = committed.variables[v].places;
      const auto place = std::ranges::lower_bound(places, step, {}, &Committed::Place::step);
      if (place == places.end() || place->step != step) {
        continue;
      }
      const contents::Placed placed{of_step.in_file,
                                    {static_cast<int>(v), name, place->type, place->shape},
                                    place->offset,
                                    place->sums,
                                    step};
      std::int64_t without = array::elements(place->shape);
      for (const auto& sum : listed(place->sums)) {
        const std::int64_t elements = array::elements(sum.box);
        std::optional<Damage> damage;
        const Outcome read = outcome_of(
            [&] { damage = compare(sum, checksum_in(*source, placed, sum.box, buffer)); });
        if (damage || !read.ok()) {
          tell({.path = committed.text(file),
                .step = step,
                .variable = name,
                .box = sum.box,
                .story = damage ? damage->story
                                : "the block " + array::text(sum.box) +
                                      " cannot be read: " + read.story});
        }
        ++checked.blocks;
        checked.bytes += elements * static_cast<std::int64_t>(array::size_bytes(place->type));
        without -= elements;
      }
      const Outcome read = outcome_of([&] {
        if (without > 0) {
          read_in_parts(*source, placed, array::whole(place->shape), buffer, [](const auto&) {});
        }
      });
      if (!read.ok()) {
        tell({.path = committed.text(file),
              .step = step,
              .variable = name,
              .box = array::whole(place->shape),
              .story = "it cannot be read: " + read.story});
      }
      checked.elements_without += without;
    }
  }
  return checked;
}

}  // namespace iocomp::reading
