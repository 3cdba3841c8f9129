// SPDX-License-Identifier: BSD-3-Clause
#include "contents/catalogue.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/with_element_type.h"
#include "base/error.h"
#include "base/utf8.h"
#include "base/wire.h"
#include "contents/variable.h"
#include "contents/variable_wire.h"

namespace iocomp::contents {
namespace {

void check_name(const std::string& name, const char* what) {
  const bool parts_filled = !name.empty() && name.front() != '/' && name.back() != '/' &&
                            name.find("//") == std::string::npos;
  const bool printable =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
  if (!is_utf8(name)) {
    throw Error{ErrorCode::invalid_argument,
                std::string{"the name \""} + name + "\" of " + what + " is not UTF-8"};
  }
  if (!parts_filled || !printable || name == "." || name == ".." || name.size() > 255) {
    throw Error{ErrorCode::invalid_argument,
                std::string{"the name \""} + name + "\" of " + what +
                    " is not allowed: 1 to 255 printable characters; '/' separates "
                    "groups and may neither begin, end nor be doubled"};
  }
}

Attributes in_step(const std::map<std::string, std::map<std::int64_t, Attribute>>& history,
                   std::int64_t step) {
  Attributes found;
  for (const auto& [name, values] : history) {
    if (const auto later = values.upper_bound(step); later != values.begin()) {
      found.emplace(name, std::prev(later)->second);
    }
  }
  return found;
}

// True where a type has this number, not another one instead.
template <typename Number>
bool is_exact(double value) {
  using Limits = std::numeric_limits<Number>;
  const double end = std::ldexp(1.0, Limits::digits);  // the first one that is too large
  return value >= static_cast<double>(Limits::lowest()) && value < end &&
         value == std::trunc(value);
}

// One element; nothing where the type has no such number.
std::vector<std::byte> element_of(array::ElementType type, double value) {
  std::vector<std::byte> bytes;
  array::with_element_type(type, [&]<typename T>(std::type_identity<T>) {
    constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, char>;
    if constexpr (is_number) {
      if (std::is_floating_point_v<T> || is_exact<T>(value)) {
        const auto number = static_cast<T>(value);
        bytes.resize(sizeof number);
        std::memcpy(bytes.data(), &number, sizeof number);
      }
    }
  });
  return bytes;
}

}  // namespace

std::vector<std::byte> encode(const Event& event) {
  WireWriter writer;
  writer.reserve(sizeof event + event.name.size() + event.attribute.values.size());
  writer.put(event.what);
  writer.put(event.step);
  writer.put(event.variable);
  writer.put_text(event.name);
  writer.put(event.type);
  writer.put(event.shape.dimensions);
  for (const auto extent : event.shape.extent) {
    writer.put(extent);
  }
  put(writer, event.attribute);
  writer.put(event.number);
  writer.put(event.time);
  return writer.take();
}

Event decode_event(std::span<const std::byte> bytes) {
  WireReader reader{bytes};
  Event event;
  event.what = reader.get<Event::What>();
  if (event.what < Event::What::define || event.what > Event::What::begin_step) {
    throw Error{ErrorCode::internal, "a message has a definition of an unknown kind"};
  }
  event.step = reader.get<std::int64_t>();
  event.variable = reader.get<std::int32_t>();
  event.name = reader.get_text();
  event.type = get_type(reader);
  const auto dimensions = reader.get<int>();
  array::Extents extents{};
  for (auto& extent : extents) {
    extent = reader.get<std::int64_t>();
  }
  event.shape = array::make_shape(dimensions, extents.data());
  event.attribute = get_attribute(reader);
  event.number = reader.get<std::int64_t>();
  event.time = reader.get<double>();
  return event;
}

std::string text(const Event& event) {
  const std::string where = " in step " + std::to_string(event.step);
  switch (event.what) {
    case Event::What::define:
      return "define(\"" + event.name + "\", " + std::string{array::name(event.type)} + ", " +
             array::text(event.shape) + ')' + where;
    case Event::What::set_shape:
      return "set_shape(variable " + std::to_string(event.variable) + ", " +
             array::text(event.shape) + ')' + where;
    case Event::What::begin_step:
      return "begin_step(" + std::to_string(event.number) + ", " + std::to_string(event.time) +
             ')' + where;
    case Event::What::attribute:
      break;
  }
  const std::string owner =
      event.variable < 0 ? "file" : "variable " + std::to_string(event.variable);
  return "attribute(" + owner + ", \"" + event.name + "\", " +
         std::to_string(event.attribute.values.size()) + " bytes)" + where;
}

void Catalogue::apply(const Event& event) {
  if (event.what != Event::What::attribute) {
    check_has_step(event.step);
  }
  switch (event.what) {
    case Event::What::define:
      define(event);
      break;
    case Event::What::set_shape:
      set_shape(event);
      break;
    case Event::What::begin_step:
      begin_step(event);
      break;
    case Event::What::attribute:
      check_name(event.name, "an attribute");
      rules_->check_attribute(event.name, event.attribute);
      if (event.variable >= 0) {
        (void)entry(event.variable);
        variables_[static_cast<std::size_t>(event.variable)].attributes[event.name][event.step] =
            event.attribute;
      } else {
        attributes_[event.name][event.step] = event.attribute;
      }
      break;
  }
  ++events_;
}

void Catalogue::begin_at(const Beginning& beginning) {
  numbers_ = {{0, beginning.number}};
  layout_.begin_at(beginning.bytes);
  has_old_bytes_ = beginning.has_old_bytes;
}

void Catalogue::begin_step(const Event& event) {
  const std::int64_t least = numbers_.contains(event.step) ? numbers_.at(event.step)
                             : event.step == 0             ? 0
                                                           : number(event.step - 1) + 1;
  if (event.number < least) {
    throw Error{ErrorCode::invalid_argument,
                "step " + std::to_string(event.number) + " cannot begin: the numbers of steps " +
                    "ascend, and this one is at least " + std::to_string(least)};
  }
  if (numbers_.contains(event.step) || event.number != number(event.step)) {
    numbers_.insert_or_assign(event.step, event.number);
  }
  if (!std::isnan(event.time)) {
    times_.insert_or_assign(event.step, event.time);
  }
}

std::int64_t Catalogue::number(std::int64_t step) const {
  const auto& [from, number] = *std::prev(numbers_.upper_bound(step));
  return number + (step - from);
}

std::optional<std::int64_t> Catalogue::step_of(std::int64_t number, std::int64_t last) const {
  std::optional<std::int64_t> found;
  for (const auto& [from, first] : numbers_) {
    if (first <= number) {
      found = from + (number - first);
    }
  }
  return found && *found <= last && this->number(*found) == number ? found : std::nullopt;
}

double Catalogue::time(std::int64_t step) const {
  const auto found = times_.find(step);
  return found == times_.end() ? unknown_time : found->second;
}

void Catalogue::check_free(const std::string& name) const {
  if (names_.contains(name)) {
    throw Error{ErrorCode::invalid_argument, "the variable \"" + name + "\" is defined already"};
  }
  // A variable "a" and a variable "a/b" would need a dataset and a group of one name.
  const auto refuse = [&](const std::string& other) {
    throw Error{ErrorCode::invalid_argument,
                "the variable \"" + name + "\" cannot exist beside \"" + other +
                    "\": one name would be both a group and a variable"};
  };
  const auto inside = names_.lower_bound(name + '/');
  if (inside != names_.end() && inside->starts_with(name + '/')) {
    refuse(*inside);
  }
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (const auto group = name.substr(0, slash); names_.contains(group)) {
      refuse(group);
    }
  }
}

void Catalogue::define(const Event& event) {
  check_name(event.name, "a variable");
  check_free(event.name);
  const int id = variables();
  Variable variable{id, event.name, event.type, event.shape};
  check_bytes(variable);
  check_step(event, event.name);
  rules_->check(variable);
  const Kept kept = kept_bits_ ? kept_bits_(variable) : Kept{};
  layout_.define(id, variable.bytes(), event.step);
  variables_.push_back({event.name, event.type, {{event.step, event.shape}}, {}, kept});
  names_.insert(event.name);
  if (event.name == time_variable && event.shape.dimensions == 0) {
    time_ = id;
  }
}

void Catalogue::check_step(const Event& event, const std::string& name) const {
  const bool is_later = event.what == Event::What::set_shape || event.step > 0;
  if (one_file_ && is_later && rules_->keeps_first_definitions()) {
    throw Error{ErrorCode::unsupported,
                text(event) + " of variable \"" + name + "\": a file of " +
                    std::string{rules_->name()} +
                    " that holds all steps has the variables of its first step in all of them, "
                    "with the shapes they were defined with; with file_per_step = true every step "
                    "may have its own"};
  }
}

void Catalogue::check_has_step(std::int64_t step) const {
  if (one_file_ && step > 0 && rules_->has_one_step()) {
    throw Error{ErrorCode::unsupported,
                "a file of " + std::string{rules_->name()} +
                    " with layout = \"flat\" has one step, and that has ended; more steps need "
                    "file_per_step = true, layout = \"steps\" or \"time\", or another file"};
  }
}

void Catalogue::set_shape(const Event& event) {
  check_step(event, entry(event.variable).name);
  auto& shapes = variables_[static_cast<std::size_t>(event.variable)].shapes;
  const auto& old = shapes.back();
  if (old.second.dimensions != event.shape.dimensions) {
    throw Error{ErrorCode::invalid_argument,
                "the variable \"" + entry(event.variable).name + "\" has " +
                    std::to_string(old.second.dimensions) + " dimensions, a shape with " +
                    std::to_string(event.shape.dimensions) + " cannot be set"};
  }
  const Variable variable{event.variable, entry(event.variable).name, entry(event.variable).type,
                          event.shape};
  check_bytes(variable);
  layout_.set_bytes(event.variable, variable.bytes(), event.step);
  if (old.first == event.step) {
    shapes.back().second = event.shape;
  } else {
    shapes.emplace_back(event.step, event.shape);
  }
}

const Catalogue::Entry& Catalogue::entry(int id) const {
  if (id < 0 || id >= variables()) {
    throw Error{ErrorCode::internal, "there is no variable number " + std::to_string(id)};
  }
  return variables_[static_cast<std::size_t>(id)];
}

const array::Shape& Catalogue::shape(int id, std::int64_t step) const {
  const auto& shapes = entry(id).shapes;
  const auto* shape = &shapes.front().second;
  for (const auto& [from, later] : shapes) {
    if (from <= step) {
      shape = &later;
    }
  }
  return *shape;
}

Variable Catalogue::variable(int id, std::int64_t step) const {
  const Entry& found = entry(id);
  Variable variable{id, found.name, found.type, shape(id, step)};
  const auto set = [&](const char* name) -> const Attribute* {
    const auto history = found.attributes.find(name);
    if (history == found.attributes.end()) {
      return nullptr;
    }
    const auto later = history->second.upper_bound(step);
    return later == history->second.begin() ? nullptr : &std::prev(later)->second;
  };
  if (const auto* names = set("dimensions"); names != nullptr && names->is_text) {
    const auto* first = reinterpret_cast<const char*>(names->values.data());
    variable.dimensions = std::string(first, names->values.size());
  }
  if (const auto* fill = set(fill_attribute); fill != nullptr) {
    variable.fill_value = *fill;
  }
  const bool tells_coordinates =
      variable.shape.dimensions == 0 || variable.dimensions == variable.name;
  variable.kept_bits = tells_coordinates && !found.kept.of_all_kinds ? 0 : found.kept.bits;
  return variable;
}

std::vector<Variable> Catalogue::all_variables(std::int64_t step) const {
  std::vector<Variable> all;
  all.reserve(variables_.size());
  for (int id = 0; id < variables(); ++id) {
    all.push_back(variable(id, step));
  }
  return all;
}

Attributes Catalogue::attributes(std::int64_t step) const { return in_step(attributes_, step); }

std::vector<Attributes> Catalogue::variable_attributes(std::int64_t step) const {
  std::vector<Attributes> all;
  all.reserve(variables_.size());
  for (int id = 0; id < variables(); ++id) {
    auto& attributes = all.emplace_back(in_step(entry(id).attributes, step));
    if (const std::int32_t kept = variable(id, step).kept_bits; kept > 0) {
      Attribute bits;
      bits.type = array::ElementType::int32;
      bits.values.resize(sizeof kept);
      std::memcpy(bits.values.data(), &kept, sizeof kept);
      attributes.insert_or_assign(kept_bits_attribute, std::move(bits));
    }
  }
  return all;
}

std::vector<std::byte> Catalogue::fill(int id, std::int64_t step) const {
  const Variable found = variable(id, step);
  if (auto time = time_ == id ? time_as_element(step) : std::vector<std::byte>{}; !time.empty()) {
    return time;
  }
  const std::vector<std::byte> zeros(array::size_bytes(found.type));
  const auto& value = found.has_fill_value() ? found.fill_value->values : zeros;
  return value == zeros && !has_old_bytes_ ? std::vector<std::byte>{} : value;
}

std::vector<std::byte> Catalogue::time_as_element(std::int64_t step) const {
  const double known = time(step);
  const bool has_both = time_ && entry(*time_).shapes.front().first <= step && !std::isnan(known);
  return has_both ? element_of(entry(*time_).type, known) : std::vector<std::byte>{};
}

std::optional<int> Catalogue::known_time(std::int64_t step) const {
  return time_as_element(step).empty() ? std::nullopt : time_;
}

void Contents::add(std::int64_t step, int variable, std::int64_t offset, BlockSums sums) {
  auto& of_step = known_[step];
  of_step.insert_or_assign(of_step.end(), variable,
                           Known{offset, std::move(sums)});  // mostly the last one
}

void Contents::remove_step(std::int64_t step) {
  known_.erase(step);
  ++removals_;
}

Description Contents::describe(const Catalogue& catalogue, std::int64_t first,
                               std::int64_t last) const {
  Description description;
  for (auto step = known_.lower_bound(first); step != known_.end() && step->first <= last; ++step) {
    description.names.emplace(step->first,
                              StepName{catalogue.number(step->first), catalogue.time(step->first)});
    for (const auto& [id, known] : step->second) {
      description.contents.push_back({step->first, catalogue.variable(id, step->first),
                                      known.offset, known.sums, catalogue.number(step->first)});
    }
  }
  // The ranks may have gone on: what belongs to later steps is none of these.
  description.attributes = catalogue.attributes(last);
  description.of_variable = catalogue.variable_attributes(last);
  return description;
}

std::int64_t Contents::end(const Catalogue& catalogue, std::int64_t first,
                           std::int64_t last) const {
  std::int64_t end = 0;
  for (auto step = known_.lower_bound(first); step != known_.end() && step->first <= last; ++step) {
    for (const auto& [id, known] : step->second) {
      if (known.offset >= 0) {
        end = std::max(end, known.offset + catalogue.variable(id, step->first).bytes());
      }
    }
  }
  return end;
}

}  // namespace iocomp::contents
