// SPDX-License-Identifier: BSD-3-Clause
#include "reading/input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/conversion.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "array/pieces.h"
#include "array/real_number.h"
#include "array/region.h"
#include "base/crew.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/number_ranges.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "formats/source.h"
#include "reading/check_sums.h"
#include "reading/committed.h"

namespace iocomp::reading {
namespace {

// Few files stay open, because a process has few descriptors. They are enough to go back and forth
// between steps.
constexpr std::size_t most_open_files = 8;

constexpr std::int64_t converted_at_once = std::int64_t{1} << 16;  // elements

template <typename Steps, typename Number>
std::string list(const Steps& steps, Number number) {
  std::vector<std::int64_t> numbers;
  std::ranges::transform(steps, std::back_inserter(numbers), number);
  return numbers.empty() ? "none" : step_ranges(numbers);
}

}  // namespace

Input::Input(std::string name, Committed committed, std::string modules, HasRead has_read,
             Crew* crew)
    : name_{std::move(name)},
      committed_{std::move(committed)},
      folder_{std::make_shared<const OpenFolder>(committed_.folder.path, committed_.said)},
      modules_{std::move(modules)},
      has_read_{std::move(has_read)},
      crew_{crew} {
  // Another node may have a copy of the files under the same path.
  if (folder_->address().system == committed_.folder.system &&
      !have_the_same_numbers(folder_->address(), committed_.folder)) {
    throw Error{ErrorCode::storage_failure,
                "file \"" + name_ + "\": " + committed_.folder.path +
                    " is another folder for this process than for the first rank of the file"};
  }
  for (std::size_t i = 0; i < committed_.variables.size(); ++i) {
    index_.emplace(committed_.variables[i].name, static_cast<int>(i));
  }
}

int Input::find(const std::string& variable) const {
  if (const auto found = index_.find(variable); found != index_.end()) {
    return found->second;
  }
  if (const auto found = committed_.not_read.find(variable); found != committed_.not_read.end()) {
    throw Error{ErrorCode::unsupported, "the variable \"" + variable + "\" of file \"" + name_ +
                                            "\" cannot be read: " + found->second};
  }
  std::vector<std::string> names;
  std::ranges::transform(committed_.variables, std::back_inserter(names), &Variable::name);
  throw Error{ErrorCode::not_found,
              "file \"" + name_ + "\" has no variable \"" + variable + "\"" +
                  (names.empty() ? ": it has none" : did_you_mean(variable, names))};
}

const Input::Variable& Input::variable(std::int64_t index) const {
  if (index < 0 || index >= static_cast<std::int64_t>(committed_.variables.size())) {
    throw Error{ErrorCode::invalid_argument,
                "file \"" + name_ + "\" has " + std::to_string(committed_.variables.size()) +
                    " variables, none has the index " + std::to_string(index)};
  }
  return committed_.variables[static_cast<std::size_t>(index)];
}

const Committed::Step& Input::step_of(std::int64_t step) const {
  const auto& steps = committed_.steps;
  const auto found = std::ranges::lower_bound(steps, step, {}, &Committed::Step::number);
  if (found == steps.end() || found->number != step) {
    const auto torn = std::ranges::find(committed_.torn, step, &Committed::Torn::step);
    if (torn != committed_.torn.end()) {
      throw Error{ErrorCode::storage_failure, "step " + std::to_string(step) + " of file \"" +
                                                  name_ + "\" cannot be read: " + torn->story};
    }
    throw Error{ErrorCode::not_found,
                "file \"" + name_ + "\" has no step " + std::to_string(step) +
                    "; committed steps: " + list(steps, &Committed::Step::number)};
  }
  return *found;
}

const Input::Place& Input::place(const std::string& variable, std::int64_t step) const {
  const auto& known = committed_.variables[static_cast<std::size_t>(find(variable))];
  if (step == newest_step) {
    return known.places.back();
  }
  (void)step_of(step);
  const auto found = std::ranges::lower_bound(known.places, step, {}, &Place::step);
  if (found == known.places.end() || found->step != step) {
    throw Error{ErrorCode::not_found, "file \"" + name_ + "\" has no values of the variable \"" +
                                          variable + "\" in step " + std::to_string(step) +
                                          "; it has in steps: " + list(known.places, &Place::step)};
  }
  return *found;
}

// Others may be told of the newest step only, and have room for its values.
void Input::check_is_like_newest(const std::string& variable, const Place& where) const {
  const Place& newest = place(variable, newest_step);
  if (where.type != newest.type || where.shape.dimensions != newest.shape.dimensions) {
    const auto told = [](const Place& place) {
      return std::string{array::name(place.type)} + " with " +
             std::to_string(place.shape.dimensions) + " dimensions";
    };
    throw Error{ErrorCode::unsupported,
                "it is " + told(where) + ", but " + told(newest) + " in step " +
                    std::to_string(newest.step) +
                    ", the newest: such steps are read by calls that name the type of the values"};
  }
}

std::shared_ptr<formats::Source> Input::source(int file) {
  const std::lock_guard lock{mutex_};
  const auto is_it = [file](const auto& open) { return open.first == file; };
  const auto found = std::ranges::find_if(open_, is_it);
  if (found != open_.end()) {
    return found->second;
  }
  std::shared_ptr source = committed_.open(static_cast<std::size_t>(file), folder_, modules_);
  if (open_.size() == most_open_files) {
    open_.pop_front();
  }
  open_.emplace_back(file, source);
  return source;
}

void Input::try_newest() {
  if (!committed_.files.empty()) {
    (void)source(static_cast<int>(committed_.files.size()) - 1);
  }
}

double Input::time(std::int64_t step) {
  if (step == newest_step && !committed_.steps.empty()) {
    step = committed_.steps.back().number;
  }
  double time = step_of(step).time;
  const auto& all = committed_.variables;
  const auto variable = std::ranges::find(all, contents::time_variable, &Variable::name);
  if (std::isnan(time) && variable != all.end()) {
    const auto place = std::ranges::lower_bound(variable->places, step, {}, &Place::step);
    std::array<std::byte, sizeof(std::complex<double>)> value{};  // the largest element type
    if (place != variable->places.end() && place->step == step && place->shape.dimensions == 0 &&
        array::real_number(place->type, value.data())) {
      read(variable->name, step, {.values = value.data(), .type = place->type});
      time = *array::real_number(place->type, value.data());
    }
  }
  return time;
}

// Compares the values that were read with the checksums of the put.
void Input::compare(const Place& where, const array::Box& box,
                    const formats::Destination& read) const {
  if (const auto damage = find_damage(where.sums, where.type, box, read)) {
    const auto& file = committed_.files.at(static_cast<std::size_t>(step_of(where.step).file));
    throw Error{ErrorCode::storage_failure, damage->story + " (" + committed_.text(file) + ')'};
  }
}

formats::Placed Input::placed(const std::string& variable, const Place& where) const {
  return {step_of(where.step).in_file,
          {find(variable), variable, where.type, where.shape},
          where.offset,
          nullptr,
          where.step};
}

formats::Whereabouts Input::whereabouts(const std::string& variable, const Place& where) {
  return source(step_of(where.step).file)->whereabouts(placed(variable, where));
}

void Input::read(const std::string& variable, const Place& where, const array::Box& box,
                 const formats::Destination& to) {
  source(step_of(where.step).file)->read(placed(variable, where), box, to);
  compare(where, box, to);
}

// Reads the whole box, because checksums are of whole blocks.
void Input::read_converted(const std::string& variable, const Place& where, const array::Box& box,
                           array::ElementType type, const formats::Destination& to) {
  if (!array::Conversion::exists(where.type, type)) {
    throw Error{ErrorCode::invalid_argument,
                "its values are " + std::string{array::name(where.type)} +
                    ", which are not converted to " + std::string{array::name(type)}};
  }
  const auto& attributes = this->variable(find(variable)).meaning_in(where.step);
  const auto find_attribute = [&](const char* name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  };
  const auto stored = contents::type_said(where.type, find_attribute);
  const array::Conversion conversion{
      stored, type,
      array::is_floating(type) ? contents::packing(stored, find_attribute) : std::nullopt};
  const auto elements = array::elements(box);
  const auto bytes_of = [](array::ElementType of, std::int64_t count) {
    return static_cast<std::size_t>(count) * array::size_bytes(of);
  };
  std::vector<std::byte> raw(bytes_of(where.type, elements));
  read(variable, where, box, {array::make_memory_box(box, nullptr, nullptr), raw.data(), to.crew});
  if (const auto unfit = conversion.first_unfit(raw)) {
    const auto index = array::index_of(where.shape, array::Region{box}, *unfit);
    throw Error{ErrorCode::invalid_argument,
                "the element " + array::index_text(where.shape, index) + " is " +
                    conversion.story(raw.data() + bytes_of(where.type, *unfit))};
  }
  std::vector<std::byte> part(bytes_of(type, std::min(elements, converted_at_once)));
  for (std::int64_t first = 0; first < elements; first += converted_at_once) {
    const auto count = std::min(converted_at_once, elements - first);
    conversion.convert(
        std::span{raw}.subspan(bytes_of(where.type, first), bytes_of(where.type, count)),
        part.data());
    array::unpack(to.memory, array::size_bytes(type), part.data(), first, count, to.local);
  }
}

void Input::read(const std::string& variable, std::int64_t step, const ReadArguments& arguments) {
  const Place& where = place(variable, step);
  try {
    if (!arguments.type) {
      check_is_like_newest(variable, where);
    }
    const auto box = array::make_box(where.shape, arguments.start, arguments.count);
    const formats::Destination to{
        array::make_memory_box(box, arguments.memory_shape, arguments.memory_start),
        static_cast<std::byte*>(arguments.values), crew_};
    const auto elements = array::elements(box);
    if (arguments.values == nullptr && elements > 0) {
      throw Error{ErrorCode::invalid_argument,
                  "values is null, the block has " + std::to_string(elements) + " elements"};
    }
    const auto type = arguments.type.value_or(where.type);
    if (elements > 0 && type == where.type) {
      read(variable, where, box, to);
    } else if (elements > 0) {
      read_converted(variable, where, box, type, to);
    }
    if (has_read_) {
      has_read_(elements * static_cast<std::int64_t>(array::size_bytes(where.type)));
    }
  } catch (const Error& error) {
    throw Error{error.code(), "read of \"" + variable + "\" in step " + std::to_string(where.step) +
                                  " of file \"" + name_ + "\": " + error.what()};
  }
}

}  // namespace iocomp::reading
