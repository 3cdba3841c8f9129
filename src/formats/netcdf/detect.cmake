# Finds a parallel netCDF that was built with the MPI in use. Sets IOCOMP_NETCDF_FOUND and, then, the target
# iocomp_netcdf_library; else IOCOMP_NETCDF_REASON.
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)

set(IOCOMP_NETCDF_FOUND FALSE)
if(NOT IOCOMP_WITH_NETCDF)
  set(IOCOMP_NETCDF_REASON "IOCOMP_WITH_NETCDF is OFF")
  return()
endif()

# Debian's parallel netCDF lies beside a serial one, under another name.
pkg_check_modules(NETCDF_MODULE QUIET netcdf-mpi)
if(NOT NETCDF_MODULE_FOUND)
  pkg_check_modules(NETCDF_MODULE QUIET netcdf)
endif()
find_path(
  IOCOMP_NETCDF_INCLUDE_DIR
  netcdf_par.h
  HINTS ${NETCDF_MODULE_PREFIX}/include ${NETCDF_MODULE_INCLUDE_DIRS}
)
find_library(IOCOMP_NETCDF_LIBRARY NAMES netcdf_mpi netcdf HINTS ${NETCDF_MODULE_LIBRARY_DIRS} ${NETCDF_MODULE_LIBDIR})
mark_as_advanced(IOCOMP_NETCDF_INCLUDE_DIR IOCOMP_NETCDF_LIBRARY)
if(NOT IOCOMP_NETCDF_INCLUDE_DIR OR NOT IOCOMP_NETCDF_LIBRARY)
  set(IOCOMP_NETCDF_REASON "no parallel netCDF was found")
else()
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_INCLUDES ${IOCOMP_NETCDF_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${IOCOMP_NETCDF_LIBRARY} MPI::MPI_C)
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  check_cxx_source_compiles(
    "#include <mpi.h>
     #include <netcdf.h>
     #include <netcdf_par.h>
     int main() { int id = 0; return nc_create_par(\"f\", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &id); }"
    IOCOMP_NETCDF_IS_PARALLEL
  )
  cmake_pop_check_state()
  needs_another_mpi("${IOCOMP_NETCDF_LIBRARY}" wrong_mpi)
  if(wrong_mpi)
    set(IOCOMP_NETCDF_REASON "built with another MPI than ${IOCOMP_MPI}: ${IOCOMP_NETCDF_LIBRARY}")
  elseif(NOT IOCOMP_NETCDF_IS_PARALLEL)
    set(IOCOMP_NETCDF_REASON "not a parallel netCDF: ${IOCOMP_NETCDF_LIBRARY}")
    unset(IOCOMP_NETCDF_IS_PARALLEL CACHE) # look again when something was installed
  else()
    set(IOCOMP_NETCDF_FOUND TRUE)
    add_library(iocomp_netcdf_library INTERFACE IMPORTED GLOBAL)
    target_include_directories(iocomp_netcdf_library SYSTEM INTERFACE ${IOCOMP_NETCDF_INCLUDE_DIR})
    target_link_libraries(iocomp_netcdf_library INTERFACE ${IOCOMP_NETCDF_LIBRARY})
  endif()
endif()

if(NOT IOCOMP_NETCDF_FOUND)
  if(NOT IOCOMP_WITH_NETCDF STREQUAL AUTO)
    message(FATAL_ERROR "IOCOMP_WITH_NETCDF is ${IOCOMP_WITH_NETCDF}, but ${IOCOMP_NETCDF_REASON}")
  endif()
  message(STATUS "back-end netcdf left out: ${IOCOMP_NETCDF_REASON}")
endif()
