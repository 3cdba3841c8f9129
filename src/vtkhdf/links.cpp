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
#include "contents/variable.h"
#include "formats/link_file.h"
#include "reading/committed.h"
#include "reading/input.h"

namespace iocomp::vtkhdf {
namespace {

using array::ElementType;
using reading::Committed;

template <typename Elements>
std::vector<std::byte> bytes_of(const Elements& values) {
  const auto bytes = std::as_bytes(std::span{values});
  return {bytes.begin(), bytes.end()};
}

template <typename Element>
formats::Dataset made(std::string_view path, ElementType type, const std::vector<Element>& values) {
  return {
      std::string{root} + '/' + std::string{path}, type, {std::ssize(values)}, bytes_of(values)};
}

}  // namespace

formats::Link Links::to(const std::string& variable, const Committed::Place& place,
                        formats::Extent start, formats::Extent count) const {
  auto where = input_->whereabouts(variable, place);
  const auto& committed = input_->committed();
  const auto file = static_cast<std::size_t>(input_->step_of(place.step).file);
  const auto& name = committed.files[file].name;
  const bool is_named = is_beside_ && !where.dataset.empty();
  return {is_named ? name : committed.folder.path + '/' + name, std::move(where),
          extent_of(place.shape), std::move(start), std::move(count)};
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
  return found != nullptr && found->is_text ? contents::text_of(*found) : std::string_view{};
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

contents::Attribute attribute(std::string_view text) {
  return {ElementType::uint8, true, bytes_of(text)};
}

contents::Attribute attribute(const std::vector<std::int64_t>& values) {
  return {ElementType::int64, false, bytes_of(values)};
}

contents::Attribute attribute(const std::vector<double>& values) {
  return {ElementType::float64, false, bytes_of(values)};
}

}  // namespace iocomp::vtkhdf
