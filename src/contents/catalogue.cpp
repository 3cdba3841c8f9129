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
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/with_element_type.h"
#include "base/error.h"
#include "base/wire.h"
#include "contents/dimensions.h"
#include "contents/fields.h"
#include "contents/json_elements.h"
#include "contents/rules.h"
#include "contents/variable.h"

namespace iocomp::contents {
namespace {

// The room in a header for one variable, dimension or attribute, beside its name and values:
// lengths, numbers, padding, and the name that a dimension without one gets.
constexpr std::int64_t most_bytes_of_numbers = 64;

std::int64_t bytes_in_header(std::string_view name, std::int64_t bytes) {
  return std::ssize(name) + bytes + most_bytes_of_numbers;
}

std::string told(const Attribute& attribute) {
  return attribute.is_list ? "a list of texts"
         : attribute.is_text
             ? "text"
             : std::to_string(attribute.count()) + (attribute.count() == 1 ? " value" : " values") +
                   " of type " + std::string{array::name(attribute.type)};
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

// The type may be another one.
bool say_the_same(const Attribute& one, const Attribute& other) {
  const auto number = one.type == other.type ? std::nullopt : number_of(one);
  return one.is_text == other.is_text &&
         (one.values == other.values || (number && number == number_of(other)));
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
    if constexpr (array::is_plain_number<T>) {
      if (std::is_floating_point_v<T> || is_exact<T>(value)) {
        const auto number = static_cast<T>(value);
        bytes.resize(sizeof number);
        std::memcpy(bytes.data(), &number, sizeof number);
      }
    }
  });
  return bytes;
}

void check(const FieldReader& /*io*/, const Event& event) {
  if (event.what < Event::What::define || event.what > Event::What::begin_step) {
    throw Error{ErrorCode::internal, "a message has a definition of an unknown kind"};
  }
}

void fields(auto& io, Is<Event> auto& event) {
  io(event.what, event.step, event.variable, event.name, event.type, event.shape, event.attribute,
     event.number, event.time);
  check(io, event);
}

}  // namespace

std::int64_t bytes_in_header(const Variable& variable) {
  const std::int64_t dimensions =
      variable.shape.dimensions + 1 + (array::is_complex(variable.type) ? 1 : 0);
  return std::ssize(variable.name) + (1 + 2 * dimensions) * most_bytes_of_numbers;
}

std::vector<std::byte> encode(const Event& event) {
  WireWriter writer;
  writer.reserve(sizeof event + event.name.size() + event.attribute.values.size());
  FieldWriter io{writer};
  fields(io, event);
  return writer.take();
}

Event decode_event(std::span<const std::byte> bytes) {
  FieldReader io{bytes};
  Event event;
  fields(io, event);
  return event;
}

// Differs for attributes that differ, unless they are long.
std::string shown(const Attribute& attribute) {
  constexpr std::size_t most_bytes = 80;
  const std::string begin{text_of(attribute).substr(0, most_bytes)};
  if (attribute.is_text) {
    return (attribute.is_list ? std::to_string(attribute.count()) + " texts: " : std::string{}) +
           '"' + begin + '"';
  }
  std::string text =
      std::to_string(attribute.count()) + ' ' + std::string{array::name(attribute.type)} + ':';
  const std::size_t bytes = array::size_bytes(attribute.type);
  for (std::size_t at = 0; at < std::min(attribute.values.size(), most_bytes); at += bytes) {
    text += ' ' + json_element(attribute.type, attribute.values.data() + at).dump();
  }
  return text;
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
  return "attribute(" + owner + ", \"" + event.name + "\", " + shown(event.attribute) + ')' + where;
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
      set_attribute(event);
      break;
  }
  ++events_;
  if (event.step == 0) {
    header_bytes_of_first_step_ = header_bytes_;
  }
}

void Catalogue::begin_at(const Beginning& beginning) {
  numbers_ = {{0, beginning.number}};
  layout_.begin_at(beginning.bytes);
  beginning_ = beginning;
  header_bytes_ += beginning.header_bytes;
  for (const auto& [name, attribute] : beginning.attributes) {
    header_bytes_ += bytes_in_header(name, attribute.bytes);
  }
  if (beginning.header_room > 0 && rules_.header_bytes != Rules::no_limit) {
    rules_.header_bytes = beginning.header_room;
  }
}

void Catalogue::check_begin(const Event& event) const {
  check_has_step(event.step);
  const std::int64_t least = numbers_.contains(event.step) ? numbers_.at(event.step)
                             : event.step == 0             ? 0
                                                           : number(event.step - 1) + 1;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;  // others follow
  if (event.number < least || event.number > most) {
    throw Error{ErrorCode::invalid_argument,
                "step " + std::to_string(event.number) + " cannot begin: the numbers of steps " +
                    "ascend, and this one is at least " + std::to_string(least) + " and at most " +
                    std::to_string(most)};
  }
}

void Catalogue::begin_step(const Event& event) {
  check_begin(event);
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
  const int id = variables();
  Variable variable{id, event.name, event.type, event.shape};
  check(rules_, variable);
  check_free(event.name);
  check_keeps(event, event.name);
  const Kept kept = kept_bits_ ? kept_bits_(variable) : Kept{};
  layout_.define(id, variable.bytes(), event.step);
  header_bytes_ += beginning_.variables.contains(event.name) ? 0 : bytes_in_header(variable);
  variables_.push_back({event.name, event.type, {{event.step, event.shape}}, {}, kept});
  names_.insert(event.name);
  if (event.name == time_variable && event.shape.dimensions == 0) {
    time_ = id;
  }
}

// Refuses changes after the first step, if the file keeps the definitions of that step.
void Catalogue::check_keeps(const Event& event, const std::string& name) const {
  if (one_file_ && event.step > 0 && rules_.keeps_first_definitions) {
    throw Error{ErrorCode::unsupported,
                text(event) + " of variable \"" + name + "\": a file of " +
                    std::string{rules_.format} +
                    " that holds all steps has the variables of its first step in all of them, "
                    "with the shapes, dimensions and fill values that they have there; with "
                    "kind = \"file_per_step\" every step may have its own"};
  }
}

void Catalogue::check_has_step(std::int64_t step) const {
  if (one_file_ && step > 0 && rules_.has_one_step) {
    throw Error{ErrorCode::unsupported,
                "a file of " + rules_.name() +
                    " has one step, and that has ended; more steps need "
                    "kind = \"file_per_step\", layout = \"steps\" or \"time\", or another file"};
  }
}

void Catalogue::check_step(std::int64_t step) const {
  check_has_step(step);
  if (rules_.has_dimensions && lengths_checked_ != events_) {
    check_lengths(step);
    lengths_checked_ = events_;
  }
}

bool Catalogue::has_one_step(const Variable& variable) const {
  return one_file_ && rules_.has_dimensions && variable.dimensions &&
         !dimensions_of(variable, false).has_time;
}

void Catalogue::check_lengths(std::int64_t step) const {
  DimensionTable table;
  for (int id = 0; id < variables(); ++id) {
    const Variable one = variable(id, step);
    (void)table.add(one, dimensions_of(one, !one_file_));
  }
}

// Refuses what would change the meaning of values that earlier jobs have put into the file.
// @param said  the attribute by this job; null if it sets none.
void Catalogue::check_keeps_meaning(const std::string& variable, const std::string& name,
                                    const Attribute* said) const {
  if (!beginning_.variables.contains(variable) || !says_meaning(variable, name)) {
    return;
  }
  const auto of_variable = beginning_.meaning.find(variable);
  const Attribute* known = nullptr;
  if (of_variable != beginning_.meaning.end() && of_variable->second.contains(name)) {
    known = &of_variable->second.at(name);
  }
  if (known == said || (known != nullptr && said != nullptr && say_the_same(*known, *said))) {
    return;
  }
  const auto told = [&](const Attribute* attribute) {
    return attribute == nullptr ? "no " + name : name + " = " + shown(*attribute);
  };
  throw Error{ErrorCode::unsupported,
              "cannot go on with the variable \"" + variable + "\": it has " + told(known) +
                  " in the file of earlier jobs, and " + told(said) +
                  " in this one, so the values there would mean something else; say the same, "
                  "take another file, or existing = \"replace\""};
}

// A job that does not say what its times are goes on with those of the file. It may leave out which
// values are none, unless they were stored so.
void Catalogue::check_says_meaning(const std::string& variable,
                                   const std::function<bool(const char*)>& says) const {
  const auto known = beginning_.meaning.find(variable);
  if (known == beginning_.meaning.end()) {
    return;
  }
  const auto& all = known->second;
  const bool says_times = says(units_attribute) || says(calendar_attribute);
  const bool stores_none = all.contains(scale_attribute) || all.contains(offset_attribute) ||
                           rules_.keeps_first_definitions;
  for (const auto& [name, attribute] : all) {
    const bool is_of_times = name == units_attribute || name == calendar_attribute;
    const bool tells_none = name == fill_attribute || name == missing_attribute;
    const bool may_lack = (is_of_times && !says_times) || (tells_none && !stores_none);
    if (!says(name.c_str()) && !may_lack) {
      check_keeps_meaning(variable, name, nullptr);
    }
  }
}

void Catalogue::check_goes_on(const std::string& variable, const Attributes& said) const {
  for (const auto& [name, attribute] : said) {
    check_keeps_meaning(variable, name, &attribute);
  }
  check_says_meaning(variable, [&said](const char* name) { return said.contains(name); });
}

// The attributes that it has were checked when they were set.
void Catalogue::check_goes_on(int id, std::int64_t step) const {
  check_says_meaning(entry(id).name,
                     [&](const char* name) { return attribute(id, step, name) != nullptr; });
}

// True for an attribute by which readers unpack the values of all steps of a file.
bool Catalogue::packs(const Event& event) const {
  const bool is_packed = attribute(event.variable, event.step, scale_attribute) != nullptr ||
                         attribute(event.variable, event.step, offset_attribute) != nullptr;
  return array::is_integer(entry(event.variable).type) &&
         (event.name == scale_attribute || event.name == offset_attribute ||
          event.name == unsigned_attribute ||
          (is_packed && (event.name == fill_attribute || event.name == missing_attribute)));
}

bool Catalogue::comes_before_puts(const Event& event) const {
  const auto is_too_much = [this](std::int64_t growth) {
    return rules_.header_bytes != Rules::no_limit && header_bytes_ + growth > rules_.header_bytes;
  };
  switch (event.what) {
    case Event::What::define:
      // The first put decides where the variables of all steps lie.
      return (rules_.header_bytes != Rules::no_limit && one_file_) ||
             is_too_much(contents::bytes_in_header({0, event.name, event.type, event.shape}));
    case Event::What::attribute: {
      const bool is_of_variable = event.variable >= 0;
      return (is_of_variable && packs(event)) ||
             (is_of_variable && event.name == fill_attribute && rules_.keeps_first_definitions) ||
             (is_of_variable && event.name == dimensions_attribute && rules_.has_dimensions) ||
             is_too_much(growth_of_header(event));
    }
    default:
      return true;
  }
}

std::int64_t Catalogue::growth_of_header(const Event& event) const {
  const auto& all = event.variable < 0 ? attributes_ : entry(event.variable).attributes;
  const auto known = all.find(event.name);
  const auto earlier = beginning_.attributes.find(name_in_file(event));
  std::int64_t before = 0;
  if (known != all.end()) {
    before = bytes_in_header(event.name, std::ssize(known->second.rbegin()->second.values));
  } else if (earlier != beginning_.attributes.end()) {
    before = bytes_in_header(event.name, earlier->second.bytes);
  }
  return bytes_in_header(event.name, std::ssize(event.attribute.values)) - before;
}

std::string Catalogue::name_in_file(const Event& event) const {
  return event.variable < 0 ? event.name : entry(event.variable).name + '/' + event.name;
}

// Checks an attribute that means something to the file itself.
void Catalogue::check_meaning(const Event& event, const Variable& owner) const {
  const Attribute& attribute = event.attribute;
  if (event.name == fill_attribute) {
    Variable with = owner;
    with.fill_value = attribute;
    if (!with.has_fill_value()) {
      throw Error{ErrorCode::invalid_argument,
                  "the attribute _FillValue of the variable \"" + owner.name + "\" is " +
                      told(attribute) + ": it must be one value of the variable's type, " +
                      std::string{array::name(owner.type)}};
    }
    if (owner.fill_value != attribute) {
      check_keeps(event, owner.name);
    }
  }
  if (event.name == dimensions_attribute && rules_.has_dimensions) {
    if (!attribute.is_text || attribute.is_list) {
      throw Error{ErrorCode::invalid_argument, "the attribute \"dimensions\" of the variable \"" +
                                                   owner.name + "\" is " + told(attribute) +
                                                   ": it must be a text that names its dimensions"};
    }
    Variable with = owner;
    with.dimensions = std::string{text_of(attribute)};
    for (const auto& name : dimensions_of(with, !one_file_).names) {
      check_dimension(rules_, owner, name);
    }
    if (owner.dimensions != with.dimensions) {
      check_keeps(event, owner.name);
    }
  }
  if (one_file_ && packs(event) && event.step > entry(event.variable).shapes.front().first) {
    const Attribute* const known = this->attribute(event.variable, event.step, event.name.c_str());
    if (known == nullptr || *known != attribute) {
      throw Error{ErrorCode::invalid_argument,
                  "the attribute " + event.name + " of the variable \"" + owner.name +
                      "\" must be set in the step in which the variable is defined: readers "
                      "unpack the values of all steps by it"};
    }
  }
  if (event.name == kept_bits_attribute &&
      (attribute.is_text || attribute.type != array::ElementType::int32 ||
       attribute.count() != 1)) {
    throw Error{ErrorCode::invalid_argument, std::string{"the attribute "} + kept_bits_attribute +
                                                 " of the variable \"" + owner.name + "\" is " +
                                                 told(attribute) +
                                                 ": it must be one value of type int32"};
  }
  if (event.name == kept_bits_attribute && entry(event.variable).kept.bits > 0) {
    throw Error{ErrorCode::invalid_argument,
                std::string{"the attribute "} + kept_bits_attribute + " of the variable \"" +
                    owner.name +
                    "\" is set by iocomp, which rounds its values as the settings say"};
  }
}

// Checks an attribute together with those that were set before.
void Catalogue::check_beside_others(const Event& event, const AttributeHistory& others) const {
  const std::string what =
      rules_.name() + " cannot hold the attribute \"" + event.name + '"' +
      (event.variable < 0 ? " of the file"
                          : " of the variable \"" + entry(event.variable).name + '"') +
      ": ";
  const auto known = others.find(event.name);
  if (one_file_ && rules_.keeps_attribute_types) {
    std::optional<EarlierAttribute> first;
    if (const auto found = beginning_.attributes.find(name_in_file(event));
        found != beginning_.attributes.end()) {
      first = found->second;
    } else if (known != others.end()) {
      const Attribute& set = known->second.begin()->second;
      first = {set.type, set.is_text};
    }
    if (first &&
        (first->is_text != event.attribute.is_text || first->type != event.attribute.type)) {
      throw Error{ErrorCode::unsupported,
                  what + "it is " + told(event.attribute) + ", and was " +
                      (first->is_text ? "text" : std::string{array::name(first->type)}) +
                      " before; readers refuse a file in which that changes"};
    }
  }
  const std::int64_t needed = header_bytes_ + growth_of_header(event);
  if (const auto room = room_for_header(event.step); needed > room) {
    throw Error{ErrorCode::unsupported,
                what + "names and attributes would take up to " + std::to_string(needed) +
                    " bytes, and room was made for " + std::to_string(room) +
                    " with the first data; set long attributes before the first put, or ask for "
                    "more with the hint nc_header_align_size"};
  }
}

// There is no limit before the first data: they make the room.
std::int64_t Catalogue::room_for_header(std::int64_t step) const {
  const bool is_made = one_file_ && (step > 0 || beginning_.header_room > 0);
  if (rules_.header_bytes == Rules::no_limit || !is_made) {
    return Rules::no_limit;
  }
  const bool has_more =
      beginning_.header_room == 0 && header_bytes_of_first_step_ > rules_.header_bytes;
  return has_more ? 2 * header_bytes_of_first_step_ : rules_.header_bytes;
}

void Catalogue::set_attribute(const Event& event) {
  const bool is_of_file = event.variable < 0;
  const Variable owner = is_of_file ? Variable{} : variable(event.variable, event.step);
  check(rules_, is_of_file ? nullptr : &owner, event.name, event.attribute);
  if (!is_of_file) {
    check_meaning(event, owner);
    check_keeps_meaning(owner.name, event.name, &event.attribute);
  }
  auto& all =
      is_of_file ? attributes_ : variables_[static_cast<std::size_t>(event.variable)].attributes;
  check_beside_others(event, all);
  header_bytes_ += growth_of_header(event);
  all[event.name][event.step] = event.attribute;
}

void Catalogue::set_shape(const Event& event) {
  check_keeps(event, entry(event.variable).name);
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
  check(rules_, variable);
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

const Attribute* Catalogue::attribute(int id, std::int64_t step, const char* name) const {
  const auto& all = entry(id).attributes;
  const auto history = all.find(name);
  if (history == all.end()) {
    return nullptr;
  }
  const auto later = history->second.upper_bound(step);
  return later == history->second.begin() ? nullptr : &std::prev(later)->second;
}

Variable Catalogue::variable(int id, std::int64_t step) const {
  const Entry& found = entry(id);
  Variable variable{id, found.name, found.type, shape(id, step)};
  if (const auto* names = attribute(id, step, dimensions_attribute);
      names != nullptr && names->is_text) {
    variable.dimensions = std::string{text_of(*names)};
  } else if (time_ == id && has_time_axis(step)) {
    variable.dimensions = time_dimension;
  }
  if (const auto* fill = attribute(id, step, fill_attribute); fill != nullptr) {
    variable.fill_value = *fill;
  }
  const bool tells_coordinates =
      variable.shape.dimensions == 0 || variable.dimensions == variable.name;
  variable.kept_bits = tells_coordinates && !found.kept.of_all_kinds ? 0 : found.kept.bits;
  return variable;
}

// True if a variable of a file of one step has the dimension time. The scalar "time" is then the
// coordinate of that dimension: readers refuse another variable of its name.
bool Catalogue::has_time_axis(std::int64_t step) const {
  bool has_it = false;
  for (int id = 0; id < variables() && !one_file_ && rules_.has_dimensions && !has_it; ++id) {
    has_it = time_ != id && dimensions_of(variable(id, step), true).has_time;
  }
  return has_it;
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

bool Catalogue::has_later_attributes(int id, std::int64_t step) const {
  return std::ranges::any_of(entry(id).attributes, [step](const auto& history) {
    return history.second.rbegin()->first > step;
  });
}

std::vector<std::byte> Catalogue::fill(int id, std::int64_t step) const {
  const Variable found = variable(id, step);
  if (auto time = time_ == id ? time_as_element(step) : std::vector<std::byte>{}; !time.empty()) {
    return time;
  }
  const std::vector<std::byte> zeros(array::size_bytes(found.type));
  const auto& value = found.has_fill_value() ? found.fill_value->values : zeros;
  return value == zeros && !beginning_.has_old_bytes ? std::vector<std::byte>{} : value;
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

bool Contents::lacks_attributes(const Catalogue& catalogue) const {
  std::set<int> seen;
  for (auto step = known_.rbegin(); step != known_.rend(); ++step) {
    for (const auto& [id, known] : step->second) {
      if (seen.insert(id).second && catalogue.has_later_attributes(id, step->first)) {
        return true;
      }
    }
    if (std::ssize(seen) == catalogue.variables()) {
      break;
    }
  }
  return false;
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

}  // namespace iocomp::contents
