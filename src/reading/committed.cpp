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
#include "base/folder_wire.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/wire.h"
#include "contents/variable.h"
#include "contents/variable_wire.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace iocomp::reading {
namespace {

void put(WireWriter& writer, const contents::Attributes& attributes) {
  writer.put(attributes.size());
  for (const auto& [name, attribute] : attributes) {
    writer.put_text(name);
    contents::put(writer, attribute);
  }
}

contents::Attributes get_attributes(WireReader& reader) {
  contents::Attributes attributes;
  for (auto left = reader.get<std::size_t>(); left > 0; --left) {
    auto name = reader.get_text();
    attributes.insert_or_assign(std::move(name), contents::get_attribute(reader));
  }
  return attributes;
}

// Only the extents that a shape has are sent: with many steps these are most of the bytes.
void put(WireWriter& writer, const Committed::Place& place) {
  writer.put(place.step);
  writer.put(place.type);
  writer.put(place.offset);
  writer.put(static_cast<std::int8_t>(place.shape.dimensions));
  for (int d = 0; d < place.shape.dimensions; ++d) {
    writer.put(place.shape.extent[static_cast<std::size_t>(d)]);
  }
  const auto* const sums = place.sums.get();
  writer.put(sums == nullptr ? std::uint64_t{0} : static_cast<std::uint64_t>(sums->size()));
  for (std::size_t i = 0; sums != nullptr && i < sums->size(); ++i) {
    contents::put(writer, (*sums)[i]);
  }
}

contents::BlockSums get_sums(WireReader& reader) {
  const auto count = reader.get_count(contents::least_bytes_of_sum);
  if (count == 0) {
    return nullptr;
  }
  auto sums = std::make_shared<std::vector<contents::BlockSum>>();
  sums->reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    sums->push_back(contents::get_block_sum(reader));
  }
  return sums;
}

Committed::Place get_place(WireReader& reader) {
  Committed::Place place;
  place.step = reader.get<std::int64_t>();
  place.type = contents::get_type(reader);
  place.offset = reader.get<std::int64_t>();
  const int dimensions = reader.get<std::int8_t>();
  array::Extents extents{};
  for (int d = 0; d < std::min(dimensions, array::max_dimensions); ++d) {
    extents.at(static_cast<std::size_t>(d)) = reader.get<std::int64_t>();
  }
  place.shape = array::make_shape(dimensions, extents.data());
  place.sums = get_sums(reader);
  return place;
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
  iocomp::put(writer, committed.folder);
  writer.put_text(committed.said);
  writer.put(committed.files.size());
  for (const auto& file : committed.files) {
    writer.put_text(file.name);
    writer.put_text(file.format);
    writer.put(file.has_manifest);
  }
  writer.put(committed.steps.size());
  for (const auto& step : committed.steps) {
    writer.put(step.number);
    writer.put(step.file);
    writer.put(step.in_file);
    writer.put(step.time);
  }
  writer.put(committed.variables.size());
  for (const auto& variable : committed.variables) {
    writer.put_text(variable.name);
    writer.put(variable.places.size());
    for (const auto& place : variable.places) {
      put(writer, place);
    }
    put(writer, variable.attributes);
    writer.put(variable.meaning.size());
    for (const auto& [step, attributes] : variable.meaning) {
      writer.put(step);
      put(writer, attributes);
    }
  }
  put(writer, committed.attributes);
  writer.put(committed.torn.size());
  for (const auto& torn : committed.torn) {
    writer.put(torn.step);
    writer.put_text(torn.story);
  }
  writer.put(committed.not_read.size());
  for (const auto& [name, why] : committed.not_read) {
    writer.put_text(name);
    writer.put_text(why);
  }
  return writer.take();
}

Committed decode_committed(std::span<const std::byte> bytes) {
  WireReader reader{bytes};
  Committed committed;
  committed.folder = get_folder_address(reader);
  committed.said = reader.get_text();
  for (auto left = reader.get<std::size_t>(); left > 0; --left) {
    auto name = reader.get_text();
    auto format = reader.get_text();
    committed.files.push_back({std::move(name), std::move(format), reader.get_truth()});
  }
  for (auto left = reader.get<std::size_t>(); left > 0; --left) {
    const auto number = reader.get<std::int64_t>();
    const auto file = reader.get<std::int32_t>();
    const auto in_file = reader.get<std::int64_t>();
    committed.steps.push_back({number, file, in_file, reader.get<double>()});
  }
  for (auto left = reader.get<std::size_t>(); left > 0; --left) {
    Committed::Variable variable;
    variable.name = reader.get_text();
    for (auto places = reader.get<std::size_t>(); places > 0; --places) {
      variable.places.push_back(get_place(reader));
    }
    variable.attributes = get_attributes(reader);
    for (auto meanings = reader.get<std::size_t>(); meanings > 0; --meanings) {
      const auto step = reader.get<std::int64_t>();
      variable.meaning.emplace(step, get_attributes(reader));
    }
    committed.variables.push_back(std::move(variable));
  }
  committed.attributes = get_attributes(reader);
  for (auto left = reader.get<std::size_t>(); left > 0; --left) {
    const auto step = reader.get<std::int64_t>();
    committed.torn.push_back({step, reader.get_text()});
  }
  for (auto left = reader.get<std::size_t>(); left > 0; --left) {
    auto name = reader.get_text();
    committed.not_read.emplace(std::move(name), reader.get_text());
  }
  return committed;
}

}  // namespace iocomp::reading
