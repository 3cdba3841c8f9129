// SPDX-License-Identifier: BSD-3-Clause
#include "read_back.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <vector>

#include "back_end.h"
#include "base/descriptor.h"
#include "formats/format.h"
#ifdef IOCOMP_TESTS_HDF5
#include "read_hdf5.h"
#endif
#ifdef IOCOMP_TESTS_ADIOS2
#include "read_adios2_variable.h"
#endif
#if defined IOCOMP_TESTS_PNETCDF || defined IOCOMP_TESTS_NETCDF
#include "read_netcdf.h"
#endif

namespace iocomp::formats {
namespace {

std::vector<std::byte> read_plain(const std::string& path, const Placed& placed) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(placed.variable.bytes()));
  const Descriptor file{::open(path.c_str(), O_RDONLY)};
  if (::pread(file.raw(), bytes.data(), bytes.size(), placed.offset) !=
      static_cast<ssize_t>(bytes.size())) {
    bytes.clear();
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> read_back(const BackEnd& back_end, const std::string& path,
                                 const Placed& placed) {
#ifdef IOCOMP_TESTS_HDF5
  if (back_end.name == "hdf5") {
    return read_hdf5(path, placed);
  }
#endif
#ifdef IOCOMP_TESTS_ADIOS2
  if (back_end.name == "adios2") {
    return read_adios2_variable(path, back_end.engine, placed);
  }
#endif
#if defined IOCOMP_TESTS_PNETCDF || defined IOCOMP_TESTS_NETCDF
  if (back_end.name == "netcdf" || back_end.name == "pnetcdf") {
    return read_netcdf(path, placed);
  }
#endif
  return read_plain(path, placed);
}

}  // namespace iocomp::formats
