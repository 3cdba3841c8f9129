# SPDX-License-Identifier: BSD-3-Clause
# Finds a netCDF, which reads the files of both back-ends, netcdf and pnetcdf: a serial one, or a parallel one that was built with the
# MPI in use. Sets IOCOMP_NETCDF_FOUND and IOCOMP_PNETCDF_FOUND and, if one of them is set, the target iocomp_netcdf_library; else
# IOCOMP_NETCDF_REASON and IOCOMP_PNETCDF_REASON.
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)

# netcdf_module(<name>): the netCDF that pkg-config knows by this name, in netcdf_include_dir and netcdf_library.
macro(netcdf_module name)
  pkg_check_modules(NETCDF_${name} QUIET ${name})
  unset(netcdf_include_dir)
  unset(netcdf_library)
  if(NETCDF_${name}_FOUND)
    # The file of Debian's netcdf-mpi tells another folder for headers than the package has.
    find_path(netcdf_include_dir netcdf_meta.h HINTS ${NETCDF_${name}_PREFIX}/include ${NETCDF_${name}_INCLUDE_DIRS} NO_CACHE)
    find_library(
      netcdf_library
      NAMES ${NETCDF_${name}_LIBRARIES}
      HINTS ${NETCDF_${name}_LIBRARY_DIRS} ${NETCDF_${name}_LIBDIR}
      NO_CACHE
    )
  endif()
endmacro()

set(IOCOMP_NETCDF_REASON "no netCDF was found")
set(found FALSE)
# Debian's parallel netCDF lies beside a serial one, under another name.
foreach(name IN ITEMS netcdf-mpi netcdf)
  netcdf_module(${name})
  if(netcdf_include_dir AND netcdf_library)
    needs_another_mpi("${netcdf_library}" wrong_mpi)
    if(NOT wrong_mpi)
      set(found TRUE)
      break()
    endif()
    set(IOCOMP_NETCDF_REASON "built with another MPI than ${IOCOMP_MPI}: ${netcdf_library}")
  endif()
endforeach()
if(found)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_INCLUDES ${netcdf_include_dir})
  set(CMAKE_REQUIRED_LIBRARIES ${netcdf_library})
  check_cxx_source_compiles(
    "#include <netcdf.h>
     #include <netcdf_meta.h>
     #if !NC_HAS_HDF5 || !NC_HAS_CDF5
     #error lacks a format
     #endif
     int main() { int id = 0; return nc_open(\"f\", NC_NOWRITE, &id); }"
    IOCOMP_NETCDF_READS_BOTH
  )
  cmake_pop_check_state()
  if(NOT IOCOMP_NETCDF_READS_BOTH)
    set(found FALSE)
    set(IOCOMP_NETCDF_REASON "it does not read both NetCDF-4 and CDF-5: ${netcdf_library}")
    unset(IOCOMP_NETCDF_READS_BOTH CACHE) # look again when something was installed
  endif()
endif()
set(IOCOMP_PNETCDF_REASON "${IOCOMP_NETCDF_REASON}")
set(IOCOMP_PNETCDF_FOUND ${found})
set(IOCOMP_NETCDF_FOUND ${found})
if(found AND NOT IOCOMP_HDF5_FOUND)
  set(IOCOMP_NETCDF_FOUND FALSE)
  set(IOCOMP_NETCDF_REASON "its files are written with HDF5: ${IOCOMP_HDF5_REASON}")
elseif(found)
  # The back-end netcdf has both libraries in one module.
  needs_another("${netcdf_library}" "libhdf5[^_. ]*(_(openmpi|mpich|serial))?" "${hdf5_soname}" other_hdf5)
  has_versions("${hdf5_file}" hdf5_has_versions)
  if(other_hdf5 AND NOT hdf5_has_versions)
    set(IOCOMP_NETCDF_FOUND FALSE)
    set(IOCOMP_NETCDF_REASON "${netcdf_library} needs ${other_hdf5}, and iocomp is built with ${hdf5_soname}")
  endif()
endif()

foreach(format IN ITEMS NETCDF PNETCDF)
  if(NOT IOCOMP_WITH_${format})
    set(IOCOMP_${format}_FOUND FALSE)
    set(IOCOMP_${format}_REASON "IOCOMP_WITH_${format} is OFF")
  elseif(NOT IOCOMP_${format}_FOUND)
    if(NOT IOCOMP_WITH_${format} STREQUAL AUTO)
      message(FATAL_ERROR "IOCOMP_WITH_${format} is ${IOCOMP_WITH_${format}}, but ${IOCOMP_${format}_REASON}")
    endif()
    string(TOLOWER ${format} name)
    message(STATUS "back-end ${name} left out: ${IOCOMP_${format}_REASON}")
  endif()
endforeach()

if(IOCOMP_NETCDF_FOUND OR IOCOMP_PNETCDF_FOUND)
  add_library(iocomp_netcdf_library INTERFACE IMPORTED GLOBAL)
  target_include_directories(iocomp_netcdf_library SYSTEM INTERFACE ${netcdf_include_dir})
  target_link_libraries(iocomp_netcdf_library INTERFACE ${netcdf_library})
endif()
