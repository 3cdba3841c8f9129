// SPDX-License-Identifier: BSD-3-Clause
#include "read_netcdf.h"

#include <netcdf.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/cdf/types.h"
#include "formats/format.h"

namespace iocomp::formats {
namespace {

constexpr std::size_t most_dimensions = array::max_dimensions + 2;

std::vector<std::byte> read(int file, const Placed& placed) {
  const Variable& wanted = placed.variable;
  int variable = -1;
  nc_type type = 0;
  int dimensions = 0;
  int records = -1;
  std::array<int, 64> numbers{};
  if (nc_inq_varid(file, wanted.name.c_str(), &variable) != NC_NOERR) {
    return {};
  }
  nc_inq_var(file, variable, nullptr, &type, &dimensions, numbers.data(), nullptr);
  nc_inq_unlimdim(file, &records);
  if (type != cdf::type_number(wanted.type)) {
    return {};
  }
  std::array<std::size_t, most_dimensions> start{};
  std::array<std::size_t, most_dimensions> count{};
  const int behind = array::is_complex(wanted.type) ? 1 : 0;  // their parts
  const int before = dimensions - wanted.shape.dimensions - behind;
  if (before < 0 || before > 1 || (before == 1 && numbers[0] != records)) {
    return {};
  }
  for (int d = 0; d < dimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    nc_inq_dimlen(file, numbers.at(i), &count.at(i));
    if (d < before) {
      start.at(i) = static_cast<std::size_t>(placed.step);
      count.at(i) = 1;
    } else if (d >= dimensions - behind) {
      if (count.at(i) != 2) {
        return {};
      }
    } else if (count.at(i) != static_cast<std::size_t>(
                                  wanted.shape.extent.at(i - static_cast<std::size_t>(before)))) {
      return {};
    }
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(wanted.bytes()));
  const int code = bytes.empty()
                       ? NC_NOERR
                       : nc_get_vara(file, variable, start.data(), count.data(), bytes.data());
  if (code != NC_NOERR) {
    bytes.clear();
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> read_netcdf(const std::string& path, const Placed& placed) {
  int file = -1;
  if (nc_open(path.c_str(), NC_NOWRITE, &file) != NC_NOERR) {
    return {};
  }
  auto bytes = read(file, placed);
  nc_close(file);
  return bytes;
}

}  // namespace iocomp::formats
