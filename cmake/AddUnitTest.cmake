# SPDX-License-Identifier: BSD-3-Clause
# add_unit_test(<name> LIBRARIES <target>... [SOURCES <file>...] [LABELS <label>...] [TIMEOUT <seconds>])
# Builds <name>.cpp (or SOURCES) with GoogleTest's main and registers it as <name> with the label unit: no MPI, no launcher.
# The target unit_tests builds all of them and nothing else.
# Those with the label threads have something for the thread sanitizer: threaded_unit_tests builds them alone.
add_custom_target(unit_tests)
add_custom_target(threaded_unit_tests)
function(add_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS")
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${name}.cpp)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300) # sanitizers are slow, and several tests run at once
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main iocomp_warnings)
  add_dependencies(unit_tests ${name})
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(threaded_unit_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
