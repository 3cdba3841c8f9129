# SPDX-License-Identifier: BSD-3-Clause
# Finds an HDF5: a serial one, or a parallel one that was built with the MPI in use. Sets IOCOMP_HDF5_FOUND and, then, the target
# iocomp_hdf5_library; else IOCOMP_HDF5_REASON.
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)

set(IOCOMP_HDF5_FOUND FALSE)
if(NOT IOCOMP_WITH_HDF5)
  set(IOCOMP_HDF5_REASON "IOCOMP_WITH_HDF5 is OFF")
  return()
endif()

add_library(iocomp_hdf5_library INTERFACE IMPORTED GLOBAL) # imported: try_compile takes no other

# Debian installs a serial HDF5 and one per MPI side by side and tells them apart by their pkg-config names. The one of this MPI
# comes first: the baselines of apps/blocks need it, and one job had better have one HDF5.
if(NOT HDF5_ROOT)
  pkg_search_module(HDF5_MODULE QUIET IMPORTED_TARGET hdf5-${IOCOMP_MPI} hdf5-serial)
endif()
if(TARGET PkgConfig::HDF5_MODULE)
  target_link_libraries(iocomp_hdf5_library INTERFACE PkgConfig::HDF5_MODULE)
  set(hdf5_libraries ${HDF5_MODULE_LINK_LIBRARIES})
else()
  set(HDF5_PREFER_PARALLEL TRUE)
  find_package(HDF5 QUIET COMPONENTS C)
  if(HDF5_FOUND)
    target_include_directories(iocomp_hdf5_library INTERFACE ${HDF5_C_INCLUDE_DIRS})
    target_link_libraries(iocomp_hdf5_library INTERFACE ${HDF5_C_LIBRARIES})
    foreach(library IN LISTS HDF5_C_LIBRARIES)
      if(TARGET ${library}) # of HDF5's own package
        get_target_property(library ${library} LOCATION)
      endif()
      list(APPEND hdf5_libraries ${library})
    endforeach()
  endif()
endif()

if(NOT hdf5_libraries)
  set(IOCOMP_HDF5_REASON "no HDF5 was found")
elseif(NOT TARGET ZLIB::ZLIB)
  set(IOCOMP_HDF5_REASON "no zlib was found")
else()
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES iocomp_hdf5_library $<TARGET_NAME_IF_EXISTS:MPI::MPI_C>)
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  check_cxx_source_compiles(
    "#include <hdf5.h>
     #if !H5_VERSION_GE(1, 10, 3)
     #error old
     #endif
     int main() { return H5open(); }"
    IOCOMP_HDF5_IS_RECENT
  )
  cmake_pop_check_state()
  set(hdf5_alone ${hdf5_libraries})
  list(FILTER hdf5_alone INCLUDE REGEX "libhdf5[^/]*\\.so")
  list(FILTER hdf5_alone EXCLUDE REGEX "libhdf5_(hl|cpp|fortran)")
  foreach(file IN LISTS hdf5_alone)
    set(hdf5_file "${file}")
    soname("${hdf5_file}" hdf5_soname)
  endforeach()
  needs_another_mpi("${hdf5_alone}" wrong_mpi)
  list(JOIN hdf5_libraries ", " hdf5_text)
  if(NOT IOCOMP_HDF5_IS_RECENT)
    set(IOCOMP_HDF5_REASON "not an HDF5 of version 1.10.3 or later: ${hdf5_text}")
    unset(IOCOMP_HDF5_IS_RECENT CACHE) # look again when something was installed
  elseif(wrong_mpi)
    set(IOCOMP_HDF5_REASON "built with another MPI than ${IOCOMP_MPI}: ${hdf5_text}")
  else()
    set(IOCOMP_HDF5_FOUND TRUE)
  endif()
endif()

if(NOT IOCOMP_HDF5_FOUND)
  if(NOT IOCOMP_WITH_HDF5 STREQUAL AUTO)
    message(FATAL_ERROR "IOCOMP_WITH_HDF5 is ${IOCOMP_WITH_HDF5}, but ${IOCOMP_HDF5_REASON}")
  endif()
  message(STATUS "back-end hdf5 left out: ${IOCOMP_HDF5_REASON}")
endif()
