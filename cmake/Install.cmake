# SPDX-License-Identifier: BSD-3-Clause
# The installed tree: libraries, headers, the CMake package iocomp and a pkg-config file. Relocatable.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/iocomp)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(
  TARGETS iocomp iocomp_v1
  EXPORT iocompTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
)
install(EXPORT iocompTargets NAMESPACE iocomp:: DESTINATION ${package_folder})

# The first iocomp's header and library under the names that its programs look for (docs/coming-from-0.1.md).
set(v1_folder ${CMAKE_INSTALL_LIBDIR}/iocomp/v1)
install(FILES ${PROJECT_SOURCE_DIR}/compat/iocomp.h DESTINATION ${v1_folder}/include)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/v1)
foreach(name IN ITEMS libiocomp.so libiocomp_v1.so.${PROJECT_VERSION_MAJOR})
  file(
    CREATE_LINK ../../../libiocomp_v1.so.${PROJECT_VERSION_MAJOR} ${PROJECT_BINARY_DIR}/v1/${name}
    SYMBOLIC
  )
  install(FILES ${PROJECT_BINARY_DIR}/v1/${name} DESTINATION ${v1_folder}/lib)
endforeach()

install(
  FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR}
)
# For `module load iocomp`, with Lmod and with Environment Modules: `module use <prefix>/share/iocomp/modulefiles`.
set(modulefiles_folder ${CMAKE_INSTALL_DATADIR}/iocomp/modulefiles)
file(RELATIVE_PATH IOCOMP_MODULEFILE_PREFIX /${modulefiles_folder}/iocomp /)
configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(
  FILES ${PROJECT_BINARY_DIR}/modulefile
  DESTINATION ${modulefiles_folder}/iocomp
  RENAME ${PROJECT_VERSION}
)

# The component Fortran: its targets are known only to who asks for it, because they need MPI for Fortran.
if(TARGET iocomp_fortran)
  install(
    TARGETS iocomp_fortran
    EXPORT iocompFortranTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  )
  install(EXPORT iocompFortranTargets NAMESPACE iocomp:: DESTINATION ${package_folder})
  install(
    FILES ${PROJECT_BINARY_DIR}/include/fortran/iocomp.mod
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/iocomp/fortran
  )
endif()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/templates/iocompConfig.cmake.in
  ${PROJECT_BINARY_DIR}/iocompConfig.cmake
  INSTALL_DESTINATION ${package_folder}
)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/iocompConfigVersion.cmake
  COMPATIBILITY SameMinorVersion
)
install(
  FILES ${PROJECT_BINARY_DIR}/iocompConfig.cmake ${PROJECT_BINARY_DIR}/iocompConfigVersion.cmake
  DESTINATION ${package_folder}
)

# The prefix follows from where the file lies, so that a tree can be moved or packed.
file(RELATIVE_PATH IOCOMP_PC_PREFIX /${pkgconfig_folder} /)
string(REGEX REPLACE "/$" "" IOCOMP_PC_PREFIX "${IOCOMP_PC_PREFIX}")
set(IOCOMP_PC_REQUIRES "")
if(IOCOMP_MPI STREQUAL openmpi)
  set(IOCOMP_PC_REQUIRES ompi-c)
elseif(IOCOMP_MPI STREQUAL mpich)
  set(IOCOMP_PC_REQUIRES mpich)
endif()
configure_file(
  ${PROJECT_SOURCE_DIR}/cmake/templates/iocomp.pc.in
  ${PROJECT_BINARY_DIR}/iocomp.pc
  @ONLY
)
install(FILES ${PROJECT_BINARY_DIR}/iocomp.pc DESTINATION ${pkgconfig_folder})
if(TARGET iocomp_fortran)
  string(REPLACE ompi-c ompi-fort IOCOMP_PC_REQUIRES_FORTRAN "${IOCOMP_PC_REQUIRES}")
  configure_file(
    ${PROJECT_SOURCE_DIR}/cmake/templates/iocomp-fortran.pc.in
    ${PROJECT_BINARY_DIR}/iocomp-fortran.pc
    @ONLY
  )
  install(FILES ${PROJECT_BINARY_DIR}/iocomp-fortran.pc DESTINATION ${pkgconfig_folder})
endif()
