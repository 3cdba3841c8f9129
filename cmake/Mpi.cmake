# SPDX-License-Identifier: BSD-3-Clause
# Finds MPI, says which one it is (IOCOMP_MPI: openmpi, mpich or other), and makes sure that MPIEXEC_EXECUTABLE
# starts programs of this one: where two are installed, FindMPI takes the launcher that is called mpiexec.
find_package(MPI REQUIRED COMPONENTS C CXX)
add_compile_definitions(OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX) # no removed MPI C++ bindings

include(CheckSymbolExists)
include(CMakePushCheckState)
cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(OPEN_MPI mpi.h IOCOMP_MPI_IS_OPEN_MPI)
check_symbol_exists(MPICH_VERSION mpi.h IOCOMP_MPI_IS_MPICH)
cmake_pop_check_state()

get_filename_component(mpi_compiler_folder "${MPI_C_COMPILER}" DIRECTORY)
if(IOCOMP_MPI_IS_OPEN_MPI)
  set(IOCOMP_MPI openmpi)
  set(launcher_says "Open MPI|OpenRTE|PRTE")
  set(launcher_names mpirun.openmpi mpiexec.openmpi mpirun mpiexec)
elseif(IOCOMP_MPI_IS_MPICH)
  set(IOCOMP_MPI mpich)
  set(launcher_says "HYDRA")
  set(launcher_names mpiexec.mpich mpiexec.hydra mpiexec)
else()
  set(IOCOMP_MPI other)
endif()

if(NOT IOCOMP_MPI STREQUAL other)
  execute_process(
    COMMAND ${MPIEXEC_EXECUTABLE} --version
    OUTPUT_VARIABLE launcher_version
    ERROR_QUIET
  )
  if(NOT launcher_version MATCHES "${launcher_says}")
    find_program(IOCOMP_MPIEXEC NAMES ${launcher_names} HINTS ${mpi_compiler_folder})
    mark_as_advanced(IOCOMP_MPIEXEC)
    if(IOCOMP_MPIEXEC)
      set(MPIEXEC_EXECUTABLE ${IOCOMP_MPIEXEC} CACHE FILEPATH "Starts programs of this MPI" FORCE)
    else()
      message(WARNING "${MPIEXEC_EXECUTABLE} is not the launcher of ${MPI_C_COMPILER} (${IOCOMP_MPI})")
    endif()
  endif()
endif()
