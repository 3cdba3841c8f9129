# Everything outside this repository that is linked, besides MPI (docs/decisions/third_party_libraries.md).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)

find_package(CLI11 REQUIRED) # apps and the command iocomp
find_package(nlohmann_json REQUIRED)
if(IOCOMP_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
