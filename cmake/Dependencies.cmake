# SPDX-License-Identifier: BSD-3-Clause
# Everything outside this repository that is linked, besides MPI (docs/developers/decisions/third_party_libraries.md).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
if(NOT IOCOMP_READER_ONLY)
  pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
  pkg_check_modules(LIBURING IMPORTED_TARGET liburing>=2.3) # without it writes are made by threads
endif()

include(cmake/HeaderLibraries.cmake)
find_or_fetch(fmt fmt::fmt fmt/core.h https://github.com/fmtlib/fmt.git 9.1.0)
find_or_fetch(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json.hpp https://github.com/nlohmann/json.git v3.11.2)
if(NOT IOCOMP_READER_ONLY)
  find_or_fetch(tomlplusplus iocomp_tomlplusplus toml++/toml.h https://github.com/marzer/tomlplusplus.git v3.3.0)
endif()
find_or_fetch(xxhash iocomp_xxhash xxhash.h https://github.com/Cyan4973/xxHash.git v0.8.1)

if(IOCOMP_TOOLS) # the command iocomp, apps and tests
  find_or_fetch(CLI11 CLI11::CLI11 CLI/CLI.hpp https://github.com/CLIUtils/CLI11.git v2.1.2)
endif()
# Debian's numpy, h5py, matplotlib and pytest belong to its own Python, which need not come first in the path.
if(IOCOMP_TOOLS OR IOCOMP_BUILD_TESTS)
  find_program(
    IOCOMP_PYTHON
    NAMES python3
    PATHS /usr/bin
    NO_DEFAULT_PATH
    DOC "Python with numpy, h5py, matplotlib and pytest"
  )
  find_program(IOCOMP_PYTHON NAMES python3 REQUIRED)
endif()

if(IOCOMP_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
