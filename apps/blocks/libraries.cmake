# SPDX-License-Identifier: BSD-3-Clause
# Format libraries for the baselines: a target iocomp_apps_<format> for each that is there and was built with this MPI.
# apps_library(<format> <target>): it is this one.
function(apps_library format target)
  add_library(iocomp_apps_${format} INTERFACE)
  target_link_libraries(iocomp_apps_${format} INTERFACE ${target})
endfunction()

include(CheckCXXSourceCompiles)
include(CMakePushCheckState)

# The library's own may be serial.
if(TARGET iocomp_format_hdf5)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES iocomp_hdf5_library MPI::MPI_C)
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  check_cxx_source_compiles(
    "#include <hdf5.h>
     int main() { return H5Pset_fapl_mpio(0, MPI_COMM_WORLD, MPI_INFO_NULL); }"
    IOCOMP_HDF5_IS_PARALLEL
  )
  cmake_pop_check_state()
  if(IOCOMP_HDF5_IS_PARALLEL)
    apps_library(hdf5 iocomp_hdf5_library)
  endif()
endif()

# Debian has both for Open MPI only, and its parallel netCDF beside a serial one, under another name.
pkg_search_module(NETCDF_PARALLEL QUIET IMPORTED_TARGET netcdf-mpi netcdf)
# The file of pkg-config tells another folder for headers than the package has.
find_path(IOCOMP_APPS_NETCDF_INCLUDE_DIR netcdf_par.h HINTS ${NETCDF_PARALLEL_PREFIX}/include)
mark_as_advanced(IOCOMP_APPS_NETCDF_INCLUDE_DIR)
if(TARGET PkgConfig::NETCDF_PARALLEL AND IOCOMP_APPS_NETCDF_INCLUDE_DIR)
  needs_another_mpi("${NETCDF_PARALLEL_LINK_LIBRARIES}" wrong_mpi)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_INCLUDES ${IOCOMP_APPS_NETCDF_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::NETCDF_PARALLEL MPI::MPI_C)
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  check_cxx_source_compiles(
    "#include <mpi.h>
     #include <netcdf.h>
     #include <netcdf_par.h>
     int main() { int id = 0; return nc_create_par(\"f\", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &id); }"
    IOCOMP_NETCDF_IS_PARALLEL
  )
  cmake_pop_check_state()
  if(IOCOMP_NETCDF_IS_PARALLEL AND NOT wrong_mpi)
    apps_library(netcdf PkgConfig::NETCDF_PARALLEL)
    target_include_directories(iocomp_apps_netcdf SYSTEM INTERFACE ${IOCOMP_APPS_NETCDF_INCLUDE_DIR})
  endif()
endif()
pkg_check_modules(PNETCDF QUIET IMPORTED_TARGET GLOBAL pnetcdf)
if(TARGET PkgConfig::PNETCDF)
  needs_another_mpi("${PNETCDF_LINK_LIBRARIES}" wrong_mpi)
  if(NOT wrong_mpi)
    apps_library(pnetcdf PkgConfig::PNETCDF)
  endif()
endif()

find_package(
  ADIOS2
  2.9
  QUIET
  COMPONENTS CXX MPI
  PATHS ${PROJECT_SOURCE_DIR}/build/adios2-${IOCOMP_MPI} /opt/adios2-${IOCOMP_MPI} /opt/adios2
)
if(ADIOS2_FOUND)
  apps_library(adios2 adios2::cxx_mpi)
endif()
