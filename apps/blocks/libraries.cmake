# Format libraries for the baselines: a target iocomp_apps_<format> for each that is there and was built with this MPI.
# apps_library(<format> <target>): it is this one.
function(apps_library format target)
  add_library(iocomp_apps_${format} INTERFACE)
  target_link_libraries(iocomp_apps_${format} INTERFACE ${target})
endfunction()

if(TARGET iocomp_format_hdf5)
  apps_library(hdf5 iocomp_hdf5_library)
endif()

# Found for the back-ends of these names where there are such; else here. Debian has both for Open MPI only.
if(TARGET iocomp_netcdf_library)
  apps_library(netcdf iocomp_netcdf_library)
elseif(IOCOMP_MPI STREQUAL openmpi)
  pkg_check_modules(NETCDF_MPI QUIET IMPORTED_TARGET netcdf-mpi)
  # The file of pkg-config tells another folder for headers than the package has.
  find_path(IOCOMP_APPS_NETCDF_INCLUDE_DIR netcdf_par.h HINTS ${NETCDF_MPI_PREFIX}/include)
  mark_as_advanced(IOCOMP_APPS_NETCDF_INCLUDE_DIR)
  if(TARGET PkgConfig::NETCDF_MPI AND IOCOMP_APPS_NETCDF_INCLUDE_DIR)
    apps_library(netcdf PkgConfig::NETCDF_MPI)
    target_include_directories(iocomp_apps_netcdf SYSTEM INTERFACE ${IOCOMP_APPS_NETCDF_INCLUDE_DIR})
  endif()
endif()
if(TARGET iocomp_pnetcdf_library)
  apps_library(pnetcdf iocomp_pnetcdf_library)
elseif(IOCOMP_MPI STREQUAL openmpi)
  pkg_check_modules(PNETCDF QUIET IMPORTED_TARGET pnetcdf)
  if(TARGET PkgConfig::PNETCDF)
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
