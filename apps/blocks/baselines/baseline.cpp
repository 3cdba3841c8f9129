// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/baselines/baseline.h"

#include <stdexcept>

namespace iocomp::apps::blocks {
namespace {

/// Writes nothing: what the computing takes alone.
class NoFile : public BlockFile {
 public:
  void put(std::size_t /*slot*/, std::span<const double> /*values*/) override {}
  void finish() override {}
};

std::unique_ptr<BlockFile> create_none(const Target& /*target*/) {
  return std::make_unique<NoFile>();
}

}  // namespace

// bench/iocomp_bench/report.py knows the words "built without".
const std::vector<Baseline>& baselines() {
  static const std::vector<Baseline> all{
      {"none", "", "", create_none, nullptr},
      {"posix", ".raw", "", create_posix, open_posix},
      {"posix-one", ".raw", "", create_posix_one, nullptr},
      {"mpiio", ".raw", "", create_mpiio, open_mpiio},
#ifdef IOCOMP_APPS_WITH_HDF5
      {"hdf5", ".h5", "", create_hdf5, open_hdf5},
#else
      {"hdf5", ".h5", "built without a parallel HDF5", nullptr, nullptr},
#endif
#ifdef IOCOMP_APPS_WITH_NETCDF
      {"netcdf", ".nc", "", create_netcdf, open_netcdf},
#else
      {"netcdf", ".nc", "built without a parallel NetCDF", nullptr, nullptr},
#endif
#ifdef IOCOMP_APPS_WITH_PNETCDF
      {"pnetcdf", ".nc", "", create_pnetcdf, open_pnetcdf},
#else
      {"pnetcdf", ".nc", "built without PnetCDF", nullptr, nullptr},
#endif
#ifdef IOCOMP_APPS_WITH_ADIOS2
      {"adios2", ".bp", "", create_adios2, open_adios2},
      {"adios2-async", ".bp", "", create_adios2_async, open_adios2},
#else
      {"adios2", ".bp", "built without ADIOS2, which `make rivals` builds", nullptr, nullptr},
      {"adios2-async", ".bp", "built without ADIOS2, which `make rivals` builds", nullptr, nullptr},
#endif
  };
  return all;
}

const Baseline& baseline(const std::string& name) {
  std::string names;
  for (const Baseline& each : baselines()) {
    if (each.name == name) {
      if (!each.missing.empty()) {
        throw std::runtime_error("baseline " + name + ": " + each.missing);
      }
      return each;
    }
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throw std::runtime_error("no baseline \"" + name + "\"; there are " + names);
}

}  // namespace iocomp::apps::blocks
