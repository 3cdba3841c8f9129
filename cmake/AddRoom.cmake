# SPDX-License-Identifier: BSD-3-Clause
# add_room(<name> SOURCES <file>... [KNOWS <room>...] [PUBLIC <library>...] [PRIVATE <library>...])
# One static library iocomp_<name> per folder of src/. KNOWS are the rooms it may include.
function(add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;KNOWS;PUBLIC;PRIVATE")
  list(TRANSFORM arg_KNOWS PREPEND iocomp_)
  add_library(iocomp_${name} STATIC ${arg_SOURCES})
  target_include_directories(iocomp_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(
    iocomp_${name}
    PUBLIC ${arg_KNOWS} ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE} iocomp_warnings
  )
endfunction()
