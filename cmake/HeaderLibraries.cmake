# SPDX-License-Identifier: BSD-3-Clause
# Libraries that are compiled in. Those that the machine lacks are fetched, where the user has said so.
option(
  IOCOMP_FETCH_DEPENDENCIES
  "Download fmt, nlohmann-json, toml++, xxHash and CLI11 at configure time where they are not installed"
  OFF
)

# find_or_fetch(<package> <target> <header> <repository> <tag>)
# Makes <target>: that of the installed package, or the folder that has <header>. What is fetched is compiled in, header by header,
# so nothing of it is installed. FETCHCONTENT_SOURCE_DIR_<PACKAGE> names a folder with its sources, for machines without network.
function(find_or_fetch package target header repository tag)
  if(TARGET ${target})
    return() # of a project that this one is part of
  endif()
  string(TOUPPER ${package} upper)
  if(target MATCHES "::" AND NOT FETCHCONTENT_SOURCE_DIR_${upper})
    find_package(${package} QUIET GLOBAL)
    if(TARGET ${target})
      return()
    endif()
  endif()
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper})
    find_path(IOCOMP_${upper}_INCLUDE_DIR ${header})
  endif()
  set(folder "${IOCOMP_${upper}_INCLUDE_DIR}")
  if(NOT folder)
    fetch_headers(${package} ${header} ${repository} ${tag} folder)
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${folder})
  if(package STREQUAL fmt)
    target_compile_definitions(${target} INTERFACE FMT_HEADER_ONLY)
  endif()
endfunction()

# fetch_headers(<package> <header> <repository> <tag> <var>): sets <var> to the folder that has <header>.
function(fetch_headers package header repository tag var)
  string(TOUPPER ${package} upper)
  if(NOT IOCOMP_FETCH_DEPENDENCIES AND NOT FETCHCONTENT_SOURCE_DIR_${upper})
    message(
      FATAL_ERROR
      "iocomp needs ${package} (the header ${header}), and it is not installed. Install it, name its folder with CMAKE_PREFIX_PATH, "
      "or let CMake fetch it: -DIOCOMP_FETCH_DEPENDENCIES=ON"
    )
  endif()
  include(FetchContent)
  # Its own CMakeLists.txt is not run: SOURCE_SUBDIR names none.
  FetchContent_Declare(
    ${package}
    GIT_REPOSITORY ${repository}
    GIT_TAG ${tag}
    GIT_SHALLOW ON
    SOURCE_SUBDIR not_built
  )
  FetchContent_MakeAvailable(${package})
  string(TOLOWER ${package} lower)
  find_path(fetched ${header} PATHS ${${lower}_SOURCE_DIR} ${${lower}_SOURCE_DIR}/include NO_DEFAULT_PATH NO_CACHE)
  if(NOT fetched)
    message(FATAL_ERROR "there is no ${header} in ${${lower}_SOURCE_DIR}")
  endif()
  set(${var} ${fetched} PARENT_SCOPE)
endfunction()
