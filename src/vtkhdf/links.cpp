// SPDX-License-Identifier: BSD-3-Clause
#include "vtkhdf/links.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/region.h"
#include "base/error.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "formats/link_file.h"
#include "reading/committed.h"
#include "reading/input.h"

namespace iocomp::vtkhdf {
namespace {

using array::ElementType;
using reading::Committed;

template <typename Element>
std::vector<std::byte> bytes_of(const std::vector<Element>& values) {
  const auto bytes = std::as_bytes(std::span{values});
  return {bytes.begin(), bytes.end()};
}

template <typename Element>
std::vector<Element> read(reading::Input& input, const std::string& variable,
                          const Committed::Place& place, ElementType type) {
  const auto all = array::whole(place.shape);
  std::vector<Element> values(static_cast<std::size_t>(array::elements(place.shape)));
  input.read(variable, place.step,
             {.start = all.start.data(),
              .count = all.count.data(),
              .values = values.data(),
              .type = type});
  return values;
}

template <typename Element>
formats::Dataset made(std::string_view path, ElementType type, const std::vector<Element>& values) {
  return {
      std::string{root} + '/' + std::string{path}, type, {std::ssize(values)}, bytes_of(values)};
}

}  // namespace

formats::Link Links::to(const std::string& variable, const Committed::Place& place,
                        formats::Extent start, formats::Extent count) const {
  formats::Whereabouts where;
  try {
    where = input_->whereabouts(variable, place);
  } catch (const Error& error) {
    throw Error{error.code(),
                "cannot link to \"" + variable + "\" of " + input_->name() + ": " + error.what()};
  }
  const auto& committed = input_->committed();
  const auto file = static_cast<std::size_t>(input_->step_of(place.step).file);
  const auto& name = committed.files[file].name;
  const bool is_named = is_beside_ && !where.dataset.empty();
  return {is_named ? name : committed.folder.path + '/' + name,
          std::move(where),
          place.type,
          extent_of(place.shape),
          std::move(start),
          std::move(count)};
}

std::vector<double> Links::reals(const std::string& variable, const Committed::Place& place) const {
  return read<double>(*input_, variable, place, ElementType::float64);
}

std::vector<std::int64_t> Links::integers(const std::string& variable,
                                          const Committed::Place& place) const {
  return read<std::int64_t>(*input_, variable, place, ElementType::int64);
}

const Committed::Place* shown(const std::vector<Committed::Place>& places, std::int64_t step) {
  const auto next = std::ranges::upper_bound(places, step, {}, &Committed::Place::step);
  return next == places.begin() ? nullptr : &*std::prev(next);
}

const Committed::Variable* find(const Committed& committed, std::string_view name) {
  const auto found = std::ranges::find(committed.variables, name, &Committed::Variable::name);
  return found == committed.variables.end() ? nullptr : &*found;
}

const contents::Attribute* find(const contents::Attributes& attributes, const char* name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}

std::string_view text_in(const contents::Attributes& attributes, const char* name) {
  const auto* found = find(attributes, name);
  return found != nullptr && found->is_text && !found->is_list ? contents::text_of(*found)
                                                               : std::string_view{};
}

std::vector<std::string> dimensions_of(const Committed::Variable& variable) {
  const auto said = text_in(variable.attributes, contents::dimensions_attribute);
  if (said.empty()) {
    return {};
  }
  const auto& newest = variable.places.back();
  contents::Variable described{0, variable.name, newest.type, newest.shape};
  described.dimensions = std::string{said};
  contents::Dimensions found;
  (void)outcome_of([&] { found = contents::dimensions_of(described, false); });
  return found.names;
}

formats::Extent extent_of(const array::Shape& shape) {
  return {shape.extent.begin(), shape.extent.begin() + shape.dimensions};
}

formats::Dataset dataset(std::string_view path, const std::vector<std::int64_t>& values) {
  return made(path, ElementType::int64, values);
}

formats::Dataset dataset(std::string_view path, const std::vector<double>& values) {
  return made(path, ElementType::float64, values);
}

contents::Attribute attribute(const std::vector<std::int64_t>& values) {
  return {ElementType::int64, false, bytes_of(values)};
}

contents::Attribute attribute(const std::vector<double>& values) {
  return {ElementType::float64, false, bytes_of(values)};
}

}  // namespace iocomp::vtkhdf
