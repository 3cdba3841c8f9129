# SPDX-License-Identifier: BSD-3-Clause
# Finds an ADIOS2 that was built with the MPI in use; any, where iocomp only reads. Sets IOCOMP_ADIOS2_FOUND, and the target
# iocomp_adios2_reader of its library without MPI; else IOCOMP_ADIOS2_REASON.
set(IOCOMP_ADIOS2_FOUND FALSE)
if(NOT IOCOMP_WITH_ADIOS2)
  set(IOCOMP_ADIOS2_REASON "IOCOMP_WITH_ADIOS2 is OFF")
  return()
endif()
set(adios2_components CXX)
if(NOT IOCOMP_READER_ONLY)
  list(APPEND adios2_components MPI)
endif()
find_package(
  ADIOS2
  2.9
  QUIET
  COMPONENTS ${adios2_components}
  PATHS ${PROJECT_SOURCE_DIR}/build/adios2-${IOCOMP_MPI} /opt/adios2-${IOCOMP_MPI} /opt/adios2
)
set(adios2_target adios2::cxx_mpi)
if(IOCOMP_READER_ONLY)
  set(adios2_target adios2::cxx)
endif()
if(NOT TARGET adios2::cxx) # before 2.10
  string(REPLACE cxx cxx11 adios2_target ${adios2_target})
endif()
if(NOT TARGET ${adios2_target})
  set(IOCOMP_ADIOS2_REASON "no ADIOS2 with ${IOCOMP_MPI} was found (tools/install-adios2 ${IOCOMP_MPI} builds it)")
elseif(IOCOMP_READER_ONLY)
  set(IOCOMP_ADIOS2_FOUND TRUE)
else()
  get_target_property(adios2_library ${adios2_target} LOCATION)
  # The wrong MPI shows neither when compiling nor when linking.
  get_filename_component(adios2_folder "${adios2_library}" DIRECTORY)
  file(GLOB adios2_core "${adios2_folder}/libadios2*core_mpi.so")
  needs_another_mpi("${adios2_core}" wrong_mpi)
  if(wrong_mpi)
    set(IOCOMP_ADIOS2_REASON "built with another MPI than ${IOCOMP_MPI}: ${ADIOS2_DIR}")
  else()
    set(IOCOMP_ADIOS2_FOUND TRUE)
  endif()
endif()
if(IOCOMP_ADIOS2_FOUND)
  add_library(iocomp_adios2_reader INTERFACE IMPORTED GLOBAL)
  string(REPLACE _mpi "" adios2_reader ${adios2_target})
  target_link_libraries(iocomp_adios2_reader INTERFACE ${adios2_reader})
else()
  if(NOT IOCOMP_WITH_ADIOS2 STREQUAL AUTO)
    message(FATAL_ERROR "IOCOMP_WITH_ADIOS2 is ${IOCOMP_WITH_ADIOS2}, but ${IOCOMP_ADIOS2_REASON}")
  endif()
  message(STATUS "back-end adios2 left out: ${IOCOMP_ADIOS2_REASON}")
endif()
