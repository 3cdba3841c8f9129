// SPDX-License-Identifier: BSD-3-Clause
#include "formats/pnetcdf/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/checked.h"
#include "base/error.h"
#include "contents/dimensions.h"
#include "contents/step_numbers.h"
#include "formats/cdf/fill.h"
#include "formats/cdf/types.h"
#include "formats/format.h"
#include "formats/pnetcdf/header.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
PnetcdfLayout::PnetcdfLayout(std::int64_t header_bytes, std::int64_t alignment_bytes, bool one_step)
    : header_bytes_{header_bytes},
      alignment_{std::max<std::int64_t>(alignment_bytes, 4)},
      one_step_{one_step},
      end_{header_bytes} {}

void PnetcdfLayout::go_on(const Header& header, const Header::Variable& variable, int id,
                          bool is_kept) {
  Slot slot;
  slot.variable.id = id;
  slot.variable.name = variable.name;
  slot.variable.type = variable.type;
  array::Extents extents{};
  for (const auto number : variable.dimensions) {
    const auto& [name, length] = header.dimensions[number];
    if (const auto complex = complex_type(variable.type, name)) {
      slot.variable.type = *complex;
      break;
    }
    if (length == 0) {
      slot.dimensions.has_time = true;
    } else if (slot.dimensions.names.size() < array::max_dimensions) {
      extents.at(slot.dimensions.names.size()) = length;
      slot.dimensions.names.push_back(name);
    }
  }
  slot.variable.shape =
      array::make_shape(static_cast<int>(slot.dimensions.names.size()), extents.data());
  slot.variable.fill_value = own_fill_value(slot.variable.type, variable.attributes);
  slot.begin = variable.begin;
  slot.is_kept = is_kept;
  slot.attributes = variable.attributes;
  if (slot.dimensions.has_time) {
    first_record_ = with_time_ == 0 ? slot.begin : first_record_;
    if (slot.begin != first_record_ + record_end_) {
      throw Error{ErrorCode::unsupported, "cannot go on with a CDF-5 file whose variable \"" +
                                              variable.name +
                                              "\" does not lie where iocomp would have put it"};
    }
    record_end_ = checked_sum(record_end_, checked_round_up(variable.bytes, padding));
    ++with_time_;
    last_part_ = variable.bytes;
  } else {
    end_ = std::max(end_, checked_sum(slot.begin, checked_round_up(variable.bytes, padding)));
  }
  slots_.emplace(id, std::move(slot));
}

void PnetcdfLayout::go_on(const Header& header, const std::set<std::string>& kept) {
  if (header.version != Header{}.version) {
    throw Error{ErrorCode::unsupported, "cannot go on with a file of CDF-" +
                                            std::to_string(header.version) +
                                            ": another program has written it anew"};
  }
  earlier_ = header.attributes;
  if (header.variables.empty()) {
    return;
  }
  for (const auto& dimension : header.dimensions) {  // in their order
    if (dimension.length > 0) {
      Variable one;
      one.shape = array::make_shape(1, &dimension.length);
      (void)table_.add(one, {false, {dimension.name}});
    }
  }
  goes_on_ = is_frozen_ = true;
  auto variables = header.variables;
  std::ranges::sort(variables, {}, &Header::Variable::begin);
  header_bytes_ = variables.front().begin;
  end_ = header_bytes_;
  int id = -static_cast<int>(variables.size());
  for (const auto& variable : variables) {
    go_on(header, variable, id++, kept.contains(variable.name));
  }
  first_record_ = with_time_ == 0 ? checked_round_up(end_, alignment_) : first_record_;
}

// A variable that an earlier job has defined under this name is the same variable.
bool PnetcdfLayout::claim(const Variable& variable) {
  const auto earlier = std::ranges::find_if(slots_, [&variable](const auto& entry) {
    return entry.first < 0 && entry.second.variable.name == variable.name;
  });
  if (earlier == slots_.end()) {
    return false;
  }
  auto claimed = slots_.extract(earlier);
  claimed.key() = variable.id;
  claimed.mapped().variable.id = variable.id;
  slots_.insert(std::move(claimed));
  return true;
}

void PnetcdfLayout::check_that_it_goes_on(const Slot& slot, const Variable& variable) const {
  const auto dimensions = contents::dimensions_of(variable, false);
  const std::string cannot = "pnetcdf cannot go on with the variable \"" + variable.name + "\": ";
  if (slot.variable.type != variable.type || slot.variable.shape != variable.shape ||
      slot.dimensions.has_time != dimensions.has_time ||
      slot.dimensions.names != dimensions.names) {
    throw Error{ErrorCode::unsupported, cannot + "it has another type, shape, or other dimensions"};
  }
  if (slot.is_kept && !is_record(slot)) {
    throw Error{ErrorCode::unsupported,
                cannot +
                    "it has no dimension time, and an earlier job has put it: what is "
                    "committed would change in place; put it only if the file is new"};
  }
}

// A hole in the file but for what the header needs of it, so there may be much.
void PnetcdfLayout::make_room_for_header() {
  header_bytes_ = std::max(header_bytes_, padded(2 * expected_bytes_));
  end_ = header_bytes_;
}

void PnetcdfLayout::define(std::span<const Variable> all) {
  if (first_record_ < 0 && slots_.empty()) {
    make_room_for_header();
  }
  if (one_step_) {
    known_ = static_cast<int>(all.size());
    return;
  }
  const bool is_first = first_record_ < 0;
  std::vector<Slot> with_time;
  for (const auto& variable : all.subspan(static_cast<std::size_t>(known_))) {
    Slot slot{variable, contents::dimensions_of(variable, false)};
    if (variable.bytes() == 0 || claim(variable)) {
      continue;
    }
    if (is_record(slot)) {
      with_time.push_back(std::move(slot));
    } else if (is_first) {
      append(std::move(slot), false);
    }  // else it has no place: `place` will say so, if somebody puts it
  }
  if (is_first) {
    first_record_ = checked_round_up(end_, alignment_);
  }
  if (goes_on_ && !with_time.empty()) {
    throw Error{ErrorCode::unsupported,
                "pnetcdf cannot go on with records that lack the variable \"" +
                    with_time.front().variable.name + "\": it is new in this job"};
  }
  if (is_frozen_ && !with_time.empty()) {
    throw Error{ErrorCode::internal, "pnetcdf cannot make room for the variable \"" +
                                         with_time.front().variable.name +
                                         "\" in records that are placed already"};
  }
  for (auto& slot : with_time) {
    append(std::move(slot), true);
  }
  known_ = static_cast<int>(all.size());
}

void PnetcdfLayout::define_numbers() {
  Slot slot{contents::step_numbers_variable(), {.has_time = true, .names = {}}};
  if (with_time_ > 0 && !is_frozen_ && !numbers()) {
    append(std::move(slot), true);
  }
}

std::optional<int> PnetcdfLayout::numbers() const {
  const auto found = std::ranges::find_if(slots_, [](const auto& entry) {
    return entry.second.variable.name == contents::step_numbers_name;
  });
  return found == slots_.end() ? std::nullopt : std::optional{found->first};
}

std::int64_t PnetcdfLayout::append(Slot slot, bool is_record) {
  const std::int64_t bytes = slot.variable.bytes();
  const std::int64_t room = checked_round_up(bytes, padding);
  if (is_record) {
    slot.begin = checked_sum(first_record_, record_end_);
    record_end_ = checked_sum(record_end_, room);
    ++with_time_;
    last_part_ = bytes;
  } else {
    slot.begin = checked_round_up(end_, alignment_);
    end_ = checked_sum(slot.begin, room);
  }
  const std::int64_t begin = slot.begin;
  slots_.insert_or_assign(slot.variable.id, std::move(slot));
  return begin;
}

// The length of a record as readers of the format compute it: the padded parts of all variables
// with time. The part of a single one is not padded.
std::int64_t PnetcdfLayout::record_bytes() const {
  return with_time_ == 1 ? last_part_ : record_end_;
}

std::int64_t PnetcdfLayout::place(const Variable& variable, std::int64_t step) {
  if (variable.bytes() == 0) {
    return -1;
  }
  if (one_step_) {
    return place_alone(variable, step);
  }
  const auto found = slots_.find(variable.id);
  if (found == slots_.end()) {
    throw Error{ErrorCode::unsupported,
                "pnetcdf has no room for the variable \"" + variable.name +
                    "\": define variables without the dimension time before the first put"};
  }
  Slot& slot = found->second;
  if (goes_on_) {
    check_that_it_goes_on(slot, variable);
  }
  if (!is_record(slot)) {
    if (slot.placed_in >= 0 && slot.placed_in != step) {
      throw contents::once_only(variable, slot.placed_in, step);
    }
    slot.placed_in = step;
    return slot.begin;
  }
  is_frozen_ = is_frozen_ || step > 0;
  slot.placed_in = std::max(slot.placed_in, step);
  const std::int64_t place = checked_sum(slot.begin, checked_product(step, record_bytes()));
  (void)checked_sum(place, variable.bytes());
  return place;
}

// It is placed again after it got another shape: its first room stays empty.
std::int64_t PnetcdfLayout::place_alone(const Variable& variable, std::int64_t step) {
  Slot slot{variable, contents::dimensions_of(variable, true)};
  slot.placed_in = step;
  return append(std::move(slot), false);
}

std::set<int> PnetcdfLayout::defined_variables() const {
  std::set<int> all;
  std::ranges::copy(std::views::keys(slots_), std::inserter(all, all.end()));
  return all;
}

bool PnetcdfLayout::is_record(int variable) const {
  const auto slot = slots_.find(variable);
  return slot != slots_.end() && is_record(slot->second);
}

Header PnetcdfLayout::header(const Description& description, const std::set<int>& variables) const {
  Header header;
  std::vector<const Slot*> in_file;
  for (const auto& [id, slot] : slots_) {
    if (variables.contains(id) || is_record(slot) || slot.is_kept) {
      in_file.push_back(&slot);
    }
  }
  std::ranges::sort(in_file, {}, &Slot::begin);
  const bool has_time =
      std::ranges::any_of(in_file, [](const Slot* slot) { return slot->dimensions.has_time; });
  contents::DimensionTable table = table_;
  if (has_time) {
    header.dimensions.push_back({contents::time_dimension, one_step_ ? 1 : 0});
  }
  const std::size_t before = header.dimensions.size();
  for (const Slot* slot : in_file) {
    Header::Variable variable{slot->variable.name,    {},         {}, slot->variable.type,
                              slot->variable.bytes(), slot->begin};
    if (slot->dimensions.has_time) {
      variable.dimensions.push_back(0);
    }
    for (const auto number : table.add(slot->variable, slot->dimensions)) {
      variable.dimensions.push_back(before + number);
    }
    if (array::is_complex(slot->variable.type)) {
      variable.dimensions.push_back(before + table.add_complex());
    }
    variable.attributes = attributes(slot->variable.id, description);
    header.variables.push_back(std::move(variable));
  }
  for (const auto& entry : table.entries()) {
    header.dimensions.push_back({entry.name, entry.length});
  }
  header.attributes = description.attributes;
  header.attributes.insert(earlier_.begin(), earlier_.end());
  return header;
}

Attributes PnetcdfLayout::attributes(int id, const Description& description) const {
  auto attributes = attributes_in_file(contents::attributes_of(id, description.of_variable));
  const auto& earlier = slots_.at(id).attributes;
  attributes.insert(earlier.begin(), earlier.end());
  return attributes;
}

// A byte more, such as padding behind a single variable with time, and ncvalidator refuses the
// file.
std::int64_t PnetcdfLayout::file_bytes(std::int64_t records) const {
  return records == 0 ? end_ : checked_sum(first_record_, checked_product(records, record_bytes()));
}

std::vector<PnetcdfLayout::Gap> PnetcdfLayout::gaps(const Description& description,
                                                    std::int64_t from, std::int64_t until) const {
  std::set<std::pair<std::int64_t, int>> put;
  for (const auto& placed : description.contents) {
    put.emplace(placed.step, placed.variable.id);
  }
  std::vector<Gap> gaps;
  for (std::int64_t step = from; step < until; ++step) {
    for (const auto& [id, slot] : slots_) {
      if (is_record(slot) && !put.contains({step, id})) {
        gaps.push_back({id, step, slot.begin + step * record_bytes(), slot.variable.bytes()});
      }
    }
  }
  return gaps;
}

}  // namespace iocomp::formats::cdf
