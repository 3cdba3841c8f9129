#include "read_pnetcdf.h"

#include <mpi.h>
#include <pnetcdf.h>

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

constexpr std::size_t most_dimensions = array::max_dimensions + 1;

MPI_Datatype memory_type(array::ElementType type) {
  const std::array<MPI_Datatype, 15> of_type{MPI_DATATYPE_NULL,
                                             MPI_SIGNED_CHAR,
                                             MPI_SHORT,
                                             MPI_INT,
                                             MPI_LONG_LONG_INT,
                                             MPI_UNSIGNED_CHAR,
                                             MPI_UNSIGNED_SHORT,
                                             MPI_UNSIGNED,
                                             MPI_UNSIGNED_LONG_LONG,
                                             MPI_DATATYPE_NULL,
                                             MPI_FLOAT,
                                             MPI_DOUBLE,
                                             MPI_DATATYPE_NULL,
                                             MPI_DATATYPE_NULL,
                                             MPI_CHAR};
  return of_type.at(static_cast<std::size_t>(type));
}

std::vector<std::byte> read(int file, const Placed& placed) {
  const Variable& wanted = placed.variable;
  int variable = -1;
  nc_type type = 0;
  int dimensions = 0;
  int records = -1;
  std::array<int, 64> numbers{};
  if (ncmpi_inq_varid(file, wanted.name.c_str(), &variable) != NC_NOERR) {
    return {};
  }
  ncmpi_inq_var(file, variable, nullptr, &type, &dimensions, numbers.data(), nullptr);
  ncmpi_inq_unlimdim(file, &records);
  if (type != cdf::type_number(wanted.type, "pnetcdf", wanted.name)) {
    return {};
  }
  std::array<MPI_Offset, most_dimensions> start{};
  std::array<MPI_Offset, most_dimensions> count{};
  const int before = dimensions - wanted.shape.dimensions;
  if (before < 0 || before > 1 || (before == 1 && numbers[0] != records)) {
    return {};
  }
  for (int d = 0; d < dimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    ncmpi_inq_dimlen(file, numbers.at(i), &count.at(i));
    if (d < before) {
      start.at(i) = static_cast<MPI_Offset>(placed.step);
      count.at(i) = 1;
    } else if (count.at(i) != static_cast<MPI_Offset>(
                                  wanted.shape.extent.at(i - static_cast<std::size_t>(before)))) {
      return {};
    }
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(wanted.bytes()));
  const MPI_Offset packed = array::elements(wanted.shape);
  const int code = ncmpi_get_vara_all(file, variable, start.data(), count.data(), bytes.data(),
                                      packed, memory_type(wanted.type));
  if (code != NC_NOERR) {
    bytes.clear();
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> read_pnetcdf(const std::string& path, const Placed& placed) {
  int file = -1;
  if (ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file) != NC_NOERR) {
    return {};
  }
  auto bytes = read(file, placed);
  ncmpi_close(file);
  return bytes;
}

}  // namespace iocomp::formats
