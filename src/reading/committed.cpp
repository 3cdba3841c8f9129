// SPDX-License-Identifier: BSD-3-Clause
#include "reading/committed.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/wire.h"
#include "contents/fields.h"
#include "contents/variable.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace iocomp::reading {
namespace {

using contents::FieldReader;
using contents::FieldWriter;
using contents::Is;

// Only the extents that a shape has are sent: with many steps these are most of the bytes.
void put_shape(FieldWriter& io, const array::Shape& shape) {
  io(static_cast<std::int8_t>(shape.dimensions));
  for (int d = 0; d < shape.dimensions; ++d) {
    io(shape.extent[static_cast<std::size_t>(d)]);
  }
}

void put_shape(FieldReader& io, array::Shape& shape) {
  std::int8_t dimensions = 0;
  io(dimensions);
  for (int d = 0; d < std::min<int>(dimensions, array::max_dimensions); ++d) {
    io(shape.extent.at(static_cast<std::size_t>(d)));
  }
  shape = array::make_shape(dimensions, shape.extent.data());
}

void put_sums(FieldWriter& io, const contents::BlockSums& sums) {
  static const std::vector<contents::BlockSum> none;
  io.each(sums ? *sums : none, [](auto& in, auto& sum) { in(sum); });
}

void put_sums(FieldReader& io, contents::BlockSums& sums) {
  constexpr std::size_t least_bytes_of_sum = sizeof(std::int8_t) + sizeof(std::uint64_t);
  std::vector<contents::BlockSum> all(io.count(least_bytes_of_sum));
  for (auto& sum : all) {
    io(sum);
  }
  if (!all.empty()) {
    sums = std::make_shared<const std::vector<contents::BlockSum>>(std::move(all));
  }
}

void put_attributes(auto& io, auto& attributes) {
  io.each(attributes, [](auto& in, auto& item) { in(item.first, item.second); });
}

void fields(auto& io, Is<Committed> auto& committed) {
  io(committed.folder, committed.said);
  io.each(committed.files,
          [](auto& in, auto& file) { in(file.name, file.format, file.has_manifest); });
  io.each(committed.steps,
          [](auto& in, auto& step) { in(step.number, step.file, step.in_file, step.time); });
  io.each(committed.variables, [](auto& in, auto& variable) {
    in(variable.name);
    in.each(variable.places, [](auto& of, auto& place) {
      of(place.step, place.type, place.offset);
      put_shape(of, place.shape);
      put_sums(of, place.sums);
    });
    put_attributes(in, variable.attributes);
    in.each(variable.meaning, [](auto& of, auto& meaning) {
      of(meaning.first);
      put_attributes(of, meaning.second);
    });
  });
  put_attributes(io, committed.attributes);
  io.each(committed.torn, [](auto& in, auto& torn) { in(torn.step, torn.story); });
  io.each(committed.not_read, [](auto& in, auto& item) { in(item.first, item.second); });
}

}  // namespace

const contents::Attributes& Committed::Variable::meaning_in(std::int64_t step) const {
  static const contents::Attributes none;
  const auto later = meaning.upper_bound(step);
  return later == meaning.begin() ? none : std::prev(later)->second;
}

std::string Committed::text(const File& file) const {
  return said + (said.empty() || said.ends_with('/') ? "" : "/") + file.name;
}

void Committed::add(File file, const contents::Inventory& inventory) {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::storage_failure, "cannot read " + text(file) + ": " + why};
  };
  for (const auto in_file : inventory.steps) {
    const auto [step, time] = inventory.name_of(in_file);
    if (!steps.empty() && step <= steps.back().number) {
      throw refuse("its step " + std::to_string(step) + " comes after step " +
                   std::to_string(steps.back().number) + " of " +
                   (steps.back().file < static_cast<std::int32_t>(files.size())
                        ? text(files[static_cast<std::size_t>(steps.back().file)])
                        : "the same file"));
    }
    steps.push_back({step, static_cast<std::int32_t>(files.size()), in_file, time});
  }
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    known.emplace(variables[i].name, i);
  }
  for (const auto& placed : inventory.contents) {
    const auto [found, is_new] = known.emplace(placed.variable.name, variables.size());
    if (is_new) {
      variables.push_back({.name = placed.variable.name});
    }
    auto& places = variables[found->second].places;
    const std::int64_t step = inventory.name_of(placed.step).number;
    if (!places.empty() && step <= places.back().step) {
      throw refuse("it has the variable \"" + placed.variable.name + "\" in step " +
                   std::to_string(step) + " after step " + std::to_string(places.back().step));
    }
    places.push_back(
        {step, placed.variable.type, placed.variable.shape, placed.offset, placed.sums});
  }
  for (auto& variable : variables) {
    if (!inventory.steps.empty() &&
        variable.places.back().step >= inventory.name_of(inventory.steps.front()).number) {
      const auto found = inventory.of_variable.find(variable.name);
      variable.attributes =
          found == inventory.of_variable.end() ? contents::Attributes{} : found->second;
      auto meaning = contents::meaning_of(variable.name, variable.attributes);
      if (meaning != variable.meaning_in(variable.places.back().step)) {
        variable.meaning.emplace(inventory.name_of(inventory.steps.front()).number,
                                 std::move(meaning));
      }
    }
  }
  attributes = inventory.attributes;
  not_read.insert(inventory.not_read.begin(), inventory.not_read.end());
  files.push_back(std::move(file));
}

std::unique_ptr<formats::Source> Committed::open(std::size_t file,
                                                 const std::shared_ptr<const OpenFolder>& in,
                                                 const std::string& modules) const {
  const auto& opening = files.at(file);
  auto source = formats::open_source(opening.format, Path{in, opening.name}, modules);
  if (opening.has_manifest) {
    source->has_manifest();
  }
  const auto is_of_it = [&](const Step& step) {
    return step.file == static_cast<std::int32_t>(file);
  };
  const auto last = std::ranges::find_if(steps.rbegin(), steps.rend(), is_of_it);
  std::int64_t newest = -1;
  for (const auto& variable : variables) {
    const auto behind = last == steps.rend() ? variable.places.begin()
                                             : std::ranges::upper_bound(
                                                   variable.places, last->number, {}, &Place::step);
    if (behind != variable.places.begin()) {
      newest = std::max(newest, std::prev(behind)->step);
    }
  }
  if (newest >= 0) {
    source->newest_step_is(newest);
  }
  return source;
}

void Committed::forget_sums() noexcept {
  for (auto& variable : variables) {
    for (auto& place : variable.places) {
      place.sums = nullptr;
    }
  }
}

std::vector<std::byte> encode(const Committed& committed) {
  WireWriter writer;
  FieldWriter io{writer};
  fields(io, committed);
  return writer.take();
}

Committed decode_committed(std::span<const std::byte> bytes) {
  FieldReader io{bytes};
  Committed committed;
  fields(io, committed);
  return committed;
}

}  // namespace iocomp::reading
