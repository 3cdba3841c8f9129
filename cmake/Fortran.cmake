# SPDX-License-Identifier: BSD-3-Clause
# Sets IOCOMP_FORTRAN_FOUND if bindings/fortran can be built, or IOCOMP_FORTRAN_REASON.
set(IOCOMP_WITH_FORTRAN AUTO CACHE STRING "Build the module iocomp for Fortran: AUTO (if a compiler is found), ON or OFF")
set_property(CACHE IOCOMP_WITH_FORTRAN PROPERTY STRINGS AUTO ON OFF)

# detect_fortran(): enables the language, finds its MPI, and tries what the binding needs.
macro(detect_fortran)
  set(IOCOMP_FORTRAN_FOUND FALSE)
  set(IOCOMP_FORTRAN_REASON "no Fortran compiler is found")
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    # If two MPIs are installed, take the one of C: mpicc.mpich has mpifort.mpich beside it.
    string(REGEX REPLACE "mpi(g|i)?cc([^/]*)$" "mpifort\\2" mpi_fortran_compiler "${MPI_C_COMPILER}")
    if(NOT MPI_Fortran_COMPILER AND EXISTS "${mpi_fortran_compiler}")
      set(MPI_Fortran_COMPILER "${mpi_fortran_compiler}" CACHE FILEPATH "Compiles Fortran for the same MPI as C")
    endif()
    find_package(MPI QUIET COMPONENTS Fortran)
    set(IOCOMP_FORTRAN_REASON "no MPI for Fortran is found")
    if(MPI_Fortran_FOUND)
      try_compile(
        IOCOMP_FORTRAN_WORKS
        ${PROJECT_BINARY_DIR}/detect_fortran
        ${PROJECT_SOURCE_DIR}/cmake/templates/detect_fortran.f90
        LINK_LIBRARIES MPI::MPI_Fortran
      )
      set(IOCOMP_FORTRAN_FOUND ${IOCOMP_FORTRAN_WORKS})
      set(
        IOCOMP_FORTRAN_REASON
        "${CMAKE_Fortran_COMPILER} has no descriptors of Fortran 2018 (gfortran has them from 12), or no module mpi_f08"
      )
      if(NOT IOCOMP_FORTRAN_FOUND)
        unset(IOCOMP_FORTRAN_WORKS CACHE) # look again when something was installed
      endif()
    endif()
  endif()
endmacro()

if(NOT IOCOMP_WITH_FORTRAN)
  set(IOCOMP_FORTRAN_FOUND FALSE)
  set(IOCOMP_FORTRAN_REASON "IOCOMP_WITH_FORTRAN is OFF")
else()
  detect_fortran()
  if(NOT IOCOMP_FORTRAN_FOUND AND NOT IOCOMP_WITH_FORTRAN STREQUAL AUTO)
    message(FATAL_ERROR "IOCOMP_WITH_FORTRAN is ${IOCOMP_WITH_FORTRAN}, but ${IOCOMP_FORTRAN_REASON}")
  endif()
endif()
