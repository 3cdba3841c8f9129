// SPDX-License-Identifier: BSD-3-Clause
#include "client/conversions.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/conversion.h"
#include "array/element_type.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/variable.h"

namespace iocomp::client {
namespace {

void check_exists(array::ElementType from, array::ElementType to) {
  if (!array::Conversion::exists(from, to)) {
    throw Error{ErrorCode::invalid_argument,
                "no values of " + std::string{array::name(from)} + " are converted to " +
                    std::string{array::name(to)} + ", which the file has"};
  }
}

}  // namespace

array::ElementType Conversions::in_file(const contents::Variable& said,
                                        array::ElementType put) const {
  const auto kept = kept_type_ ? kept_type_(said) : said.type;
  if (kept != put) {
    check_exists(put, kept);
  }
  return kept;
}

std::shared_ptr<const array::Conversion> Conversions::find(const contents::Catalogue& catalogue,
                                                           const contents::Variable& variable,
                                                           std::int64_t step,
                                                           array::ElementType type) {
  // A variable that is defined by floating-point numbers has numbers, whatever is put.
  const bool is_number = array::is_floating(type) || array::is_floating(put_type(variable.id));
  if (type == variable.type && !(is_number && array::is_integer(type))) {
    return nullptr;
  }
  check_exists(type, variable.type);
  auto& known = known_[{variable.id, type}];
  if (!known) {
    const auto packing =
        is_number ? contents::packing(variable.type,
                                      [&](const char* name) {
                                        return catalogue.attribute(variable.id, step, name);
                                      })
                  : std::nullopt;
    if (packing || type != variable.type) {
      known = std::make_shared<const array::Conversion>(type, variable.type, packing);
    }
  }
  return known;
}

std::vector<std::byte> Conversions::element(const contents::Variable& variable,
                                            const void* value) const {
  const auto type = put_type(variable.id);
  const auto* const bytes = static_cast<const std::byte*>(value);
  const std::span given{bytes, array::size_bytes(type)};
  if (type == variable.type) {
    return {given.begin(), given.end()};
  }
  const array::Conversion conversion{type, variable.type};
  if (conversion.first_unfit(given)) {
    throw Error{ErrorCode::invalid_argument,
                "the value is " + conversion.story(bytes) +
                    (array::is_integer(variable.type)
                         ? "; a fill value is as the file has it, and is not packed"
                         : "")};
  }
  std::vector<std::byte> made(array::size_bytes(variable.type));
  conversion.convert(given, made.data());
  return made;
}

}  // namespace iocomp::client
