# Finds a parallel HDF5 that was built with the MPI in use. Sets IOCOMP_HDF5_FOUND and, then, the target iocomp_hdf5_library;
# else IOCOMP_HDF5_REASON.
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)

# soname(<file> <var>): the name that a program linked with a shared library asks for.
function(soname file var)
  file(REAL_PATH "${file}" real)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
  string(REGEX MATCH "SONAME +([^ \n]+)" unused "${headers}")
  set(${var} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# is_of_another_mpi(<libraries> <var>): whether the libhdf5 or libadios2 among them needs an MPI library other than ours. Compiling and
# linking do not show that.
function(is_of_another_mpi libraries var)
  set(${var} FALSE PARENT_SCOPE)
  set(ours "")
  foreach(library IN LISTS MPI_C_LIBRARIES)
    soname("${library}" name)
    list(APPEND ours "${name}")
  endforeach()
  foreach(library IN LISTS libraries)
    if(NOT library MATCHES "lib(hdf5|adios2)[^/]*\\.so" OR NOT EXISTS "${library}")
      continue()
    endif()
    file(REAL_PATH "${library}" real)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
    string(REGEX MATCHALL "NEEDED +libmpi[^ \n]*" needed "${headers}")
    list(TRANSFORM needed REPLACE "NEEDED +" "")
    foreach(name IN LISTS needed)
      if(NOT name IN_LIST ours)
        set(${var} TRUE PARENT_SCOPE)
      endif()
    endforeach()
  endforeach()
endfunction()

set(IOCOMP_HDF5_FOUND FALSE)
if(NOT IOCOMP_WITH_HDF5)
  set(IOCOMP_HDF5_REASON "IOCOMP_WITH_HDF5 is OFF")
  return()
endif()

add_library(iocomp_hdf5_library INTERFACE IMPORTED GLOBAL) # imported: try_compile takes no other

# Debian installs one parallel HDF5 per MPI side by side and tells them apart by their pkg-config names.
if(NOT IOCOMP_MPI STREQUAL other AND NOT HDF5_ROOT)
  pkg_check_modules(HDF5_MODULE QUIET IMPORTED_TARGET hdf5-${IOCOMP_MPI})
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
    set(hdf5_libraries ${HDF5_C_LIBRARIES})
  endif()
endif()

if(NOT hdf5_libraries)
  set(IOCOMP_HDF5_REASON "no HDF5 was found")
else()
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES iocomp_hdf5_library MPI::MPI_C)
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  check_cxx_source_compiles(
    "#include <hdf5.h>
     #ifndef H5_HAVE_PARALLEL
     #error serial
     #endif
     #if !H5_VERSION_GE(1, 10, 2)
     #error old
     #endif
     int main() { return H5open() + H5Pset_fapl_mpio(0, MPI_COMM_WORLD, MPI_INFO_NULL); }"
    IOCOMP_HDF5_IS_PARALLEL
  )
  cmake_pop_check_state()
  is_of_another_mpi("${hdf5_libraries}" wrong_mpi)
  list(JOIN hdf5_libraries ", " hdf5_text)
  if(NOT IOCOMP_HDF5_IS_PARALLEL)
    set(IOCOMP_HDF5_REASON "not a parallel HDF5 of version 1.10.2 or later: ${hdf5_text}")
    unset(IOCOMP_HDF5_IS_PARALLEL CACHE) # look again when something was installed
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
