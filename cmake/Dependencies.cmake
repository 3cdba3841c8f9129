# Everything outside this repository that is linked, besides MPI (docs/developers/decisions/third_party_libraries.md).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(XXHASH REQUIRED libxxhash>=0.8) # its header alone
pkg_check_modules(LIBURING IMPORTED_TARGET liburing>=2.3) # without it writes are made by threads

find_package(CLI11 REQUIRED) # apps and the command iocomp
find_package(nlohmann_json REQUIRED)
# Debian's numpy, h5py, matplotlib and pytest belong to its own Python, which need not come first in the path.
find_program(
  IOCOMP_PYTHON
  NAMES python3
  PATHS /usr/bin
  NO_DEFAULT_PATH
  DOC "Python with numpy, h5py, matplotlib and pytest"
)
find_program(IOCOMP_PYTHON NAMES python3 REQUIRED)

if(IOCOMP_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
