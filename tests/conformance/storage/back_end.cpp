// SPDX-License-Identifier: BSD-3-Clause
#include "back_end.h"

#include <fcntl.h>
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "array/element_type.h"
#include "base/path.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/lustre_layout.h"
#include "formats/registry.h"

namespace iocomp::formats {

FormatOptions BackEnd::options() const {
  FormatOptions options;
  options.engine = engine;
  options.grows_along_time = !layout.empty();
  options.chunk_bytes = 64 << 10;  // so that there are some
  options.compression.level = 1;
  options.compression.method = layout == "deflate" ? Compression::Method::deflate
                               : layout == "zstd"  ? Compression::Method::zstd
                                                   : Compression::Method::none;
  return options;
}

const Format& BackEnd::format() const { return formats::format(name, folder, options()); }

bool BackEnd::holds(array::ElementType type) const {
  return format().rules(options()).types.has(type);
}

Variable BackEnd::like(Variable wanted) const {
  if (!holds(wanted.type)) {
    wanted.type = array::ElementType::float64;
  }
  if (!format().rules(options()).has_groups) {
    std::ranges::replace(wanted.name, '/', '_');
  }
  return wanted;
}

Target BackEnd::create(const Path& path) const {
  if (!is_plain()) {
    Target target = format().create(path, options(), Communicator{MPI_COMM_WORLD});
    if (const auto* const steps = std::get_if<std::unique_ptr<StepTarget>>(&target)) {
      (*steps)->begin();
    }
    return target;
  }
  (void)make_file(path, O_WRONLY);
  return format().create(path, options(), Communicator{MPI_COMM_SELF});
}

std::vector<BackEnd> back_ends() {
  std::vector<BackEnd> all{
      {"posix", {}}, {"mpiio", {}}, {"example_format", IOCOMP_EXAMPLE_MODULES}};
#ifdef IOCOMP_TESTS_HDF5
  all.push_back({"hdf5", {}});
  all.push_back({"hdf5", {}, {}, "time"});
  all.push_back({"hdf5", {}, {}, "deflate"});
#endif
#if defined IOCOMP_TESTS_HDF5 && defined IOCOMP_TESTS_ZSTD
  all.push_back({"hdf5", {}, {}, "zstd"});
#endif
#ifdef IOCOMP_TESTS_ADIOS2
  for (const char* engine : {"BP4", "BP5", "HDF5"}) {
    all.push_back({"adios2", {}, engine});
  }
#endif
#ifdef IOCOMP_TESTS_PNETCDF
  all.push_back({"pnetcdf", {}});
#endif
#ifdef IOCOMP_TESTS_NETCDF
  all.push_back({"netcdf", {}});
  all.push_back({"netcdf", {}, {}, "deflate"});
#endif
#if defined IOCOMP_TESTS_NETCDF && defined IOCOMP_TESTS_ZSTD
  all.push_back({"netcdf", {}, {}, "zstd"});
#endif
  return all;
}

std::string label(const BackEnd& back_end) {
  return back_end.name + (back_end.engine.empty() ? "" : '_' + back_end.engine) +
         (back_end.layout.empty() ? "" : '_' + back_end.layout);
}

}  // namespace iocomp::formats
