// SPDX-License-Identifier: BSD-3-Clause
#include "formats/netcdf/look.h"

#include <netcdf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "base/error.h"
#include "contents/variable.h"
#include "formats/cdf/types.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
namespace {

using Name = std::array<char, NC_MAX_NAME + 1>;

Looked::Dimension look_at_dimension(int file, int number, const std::string& action,
                                    const std::string& path) {
  Name found{};
  std::size_t length = 0;
  check_netcdf(nc_inq_dim(file, number, found.data(), &length), action, path);
  return {number, found.data(), static_cast<std::int64_t>(length)};
}

}  // namespace

void check_netcdf(int code, const std::string& action, const std::string& path) {
  if (code != NC_NOERR) {
    throw Error{ErrorCode::storage_failure,
                "cannot " + action + ' ' + path + ": netCDF: " + nc_strerror(code)};
  }
}

Looked look_at(int file, int variable, const std::string& path) {
  const std::string action = "look at the variables of";
  int used = 0;
  check_netcdf(nc_inq_varndims(file, variable, &used), action, path);
  std::vector<int> numbers(static_cast<std::size_t>(used));
  Name found{};
  Looked looked;
  check_netcdf(
      nc_inq_var(file, variable, found.data(), &looked.type, nullptr, numbers.data(), nullptr),
      action, path);
  looked.name = found.data();
  for (const auto number : numbers) {
    looked.dimensions.push_back(look_at_dimension(file, number, action, path));
  }
  return looked;
}

namespace {

Attribute texts_in(int file, int variable, const char* name, std::size_t length,
                   const std::string& path) {
  std::vector<char*> found(length, nullptr);
  check_netcdf(nc_get_att_string(file, variable, name, found.data()), "read the attributes of",
               path);
  std::vector<std::string> texts;
  for (const char* const text : found) {
    texts.emplace_back(text == nullptr ? "" : text);
  }
  nc_free_string(length, found.data());
  return length == 1 ? contents::text_attribute(texts.front()) : contents::list_attribute(texts);
}

}  // namespace

Attributes attributes_in(int file, int variable, const std::string& path) {
  const std::string action = "read the attributes of";
  int count = 0;
  check_netcdf(nc_inq_varnatts(file, variable, &count), action, path);
  Attributes all;
  for (int i = 0; i < count; ++i) {
    Name name{};
    int type = 0;
    std::size_t length = 0;
    check_netcdf(nc_inq_attname(file, variable, i, name.data()), action, path);
    check_netcdf(nc_inq_att(file, variable, name.data(), &type, &length), action, path);
    if (type == NC_STRING && length > 0) {
      all.emplace(name.data(), texts_in(file, variable, name.data(), length, path));
      continue;
    }
    Attribute attribute;
    attribute.is_text = type == text_number;
    const auto element = attribute.is_text ? array::ElementType::uint8 : type_of(type);
    if (!element) {
      continue;
    }
    attribute.type = *element;
    attribute.values.resize(length * array::size_bytes(*element));
    if (!attribute.values.empty()) {
      check_netcdf(nc_get_att(file, variable, name.data(), attribute.values.data()), action, path);
    }
    if (attribute.is_text) {
      attribute = contents::stored_text_attribute(contents::text_of(attribute));
    }
    all.emplace(name.data(), std::move(attribute));
  }
  return all;
}

}  // namespace iocomp::formats::cdf
