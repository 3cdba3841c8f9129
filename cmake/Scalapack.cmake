# SPDX-License-Identifier: BSD-3-Clause
# Finds what apps/hpl needs: IOCOMP_SCALAPACK_FOUND and the target iocomp_scalapack, or IOCOMP_SCALAPACK_REASON.
set(IOCOMP_WITH_SCALAPACK AUTO CACHE STRING "Build the client hpl: AUTO (if ScaLAPACK with this MPI is found), ON or OFF")
set_property(CACHE IOCOMP_WITH_SCALAPACK PROPERTY STRINGS AUTO ON OFF)
set(
  IOCOMP_SCALAPACK_LIBRARIES
  ""
  CACHE STRING
  "Libraries that have ScaLAPACK, BLACS, LAPACK and BLAS; default: ScaLAPACK and OpenBLAS, or what the compiler links by itself"
)
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)
include(${PROJECT_SOURCE_DIR}/src/formats/mpi_of_library.cmake)

# detect_scalapack(): sets the two variables.
macro(detect_scalapack)
  set(IOCOMP_SCALAPACK_FOUND FALSE)
  set(IOCOMP_SCALAPACK_REASON "ScaLAPACK for ${IOCOMP_MPI} and OpenBLAS are not found (tools/install-dependencies hpl)")
  set(scalapack_libraries ${IOCOMP_SCALAPACK_LIBRARIES})
  if(NOT scalapack_libraries)
    # Debian has one for each MPI. Its pkg-config files name whatever MPI is the default.
    find_library(IOCOMP_SCALAPACK_LIBRARY NAMES scalapack-${IOCOMP_MPI} scalapack)
    find_library(IOCOMP_OPENBLAS_LIBRARY openblas)
    mark_as_advanced(IOCOMP_SCALAPACK_LIBRARY IOCOMP_OPENBLAS_LIBRARY)
    if(IOCOMP_SCALAPACK_LIBRARY AND IOCOMP_OPENBLAS_LIBRARY)
      set(scalapack_libraries ${IOCOMP_SCALAPACK_LIBRARY} ${IOCOMP_OPENBLAS_LIBRARY})
    endif()
  endif()
  needs_another_mpi("${scalapack_libraries}" wrong_mpi)
  if(wrong_mpi)
    set(IOCOMP_SCALAPACK_REASON "${scalapack_libraries} is for another MPI than ${IOCOMP_MPI}")
  else()
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_LIBRARIES ${scalapack_libraries} MPI::MPI_C)
    set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_cxx_source_compiles(
      "#include <mpi.h>
       extern \"C\" { int Csys2blacs_handle(MPI_Comm); void pdgetrs_(); void pdgemm_(); void dgemm_(); }
       int main() { pdgetrs_(); pdgemm_(); dgemm_(); return Csys2blacs_handle(MPI_COMM_WORLD); }"
      IOCOMP_SCALAPACK_WORKS
    )
    cmake_pop_check_state()
    set(IOCOMP_SCALAPACK_FOUND ${IOCOMP_SCALAPACK_WORKS})
    if(NOT IOCOMP_SCALAPACK_FOUND)
      unset(IOCOMP_SCALAPACK_WORKS CACHE) # look again when something was installed
    endif()
  endif()
endmacro()

if(NOT IOCOMP_WITH_SCALAPACK)
  set(IOCOMP_SCALAPACK_FOUND FALSE)
  set(IOCOMP_SCALAPACK_REASON "IOCOMP_WITH_SCALAPACK is OFF")
else()
  detect_scalapack()
  if(NOT IOCOMP_SCALAPACK_FOUND AND NOT IOCOMP_WITH_SCALAPACK STREQUAL AUTO)
    message(FATAL_ERROR "IOCOMP_WITH_SCALAPACK is ${IOCOMP_WITH_SCALAPACK}, but ${IOCOMP_SCALAPACK_REASON}")
  endif()
endif()
if(IOCOMP_SCALAPACK_FOUND)
  add_library(iocomp_scalapack INTERFACE)
  target_link_libraries(iocomp_scalapack INTERFACE ${scalapack_libraries} MPI::MPI_C)
endif()
