# SPDX-License-Identifier: BSD-3-Clause
# Finds an ADIOS2 that was built with the MPI in use. Sets IOCOMP_ADIOS2_FOUND; else IOCOMP_ADIOS2_REASON.
set(IOCOMP_ADIOS2_FOUND FALSE)
if(NOT IOCOMP_WITH_ADIOS2)
  set(IOCOMP_ADIOS2_REASON "IOCOMP_WITH_ADIOS2 is OFF")
  return()
endif()
find_package(
  ADIOS2
  2.9
  QUIET
  COMPONENTS CXX MPI
  PATHS ${PROJECT_SOURCE_DIR}/build/adios2-${IOCOMP_MPI} /opt/adios2-${IOCOMP_MPI} /opt/adios2
)
if(NOT TARGET adios2::cxx_mpi)
  set(IOCOMP_ADIOS2_REASON "no ADIOS2 with ${IOCOMP_MPI} was found (tools/install-adios2 ${IOCOMP_MPI} builds it)")
else()
  get_target_property(adios2_library adios2::cxx_mpi LOCATION)
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
if(NOT IOCOMP_ADIOS2_FOUND)
  if(NOT IOCOMP_WITH_ADIOS2 STREQUAL AUTO)
    message(FATAL_ERROR "IOCOMP_WITH_ADIOS2 is ${IOCOMP_WITH_ADIOS2}, but ${IOCOMP_ADIOS2_REASON}")
  endif()
  message(STATUS "back-end adios2 left out: ${IOCOMP_ADIOS2_REASON}")
endif()
