# SPDX-License-Identifier: BSD-3-Clause
# soname(<file> <var>): the name that a program linked with a shared library asks for.
function(soname file var)
  file(REAL_PATH "${file}" real)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
  string(REGEX MATCH "SONAME +([^ \n]+)" unused "${headers}")
  set(${var} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# needs_another(<libraries> <pattern> <ours> <var>): a library, whose name is like the pattern, that one of these shared libraries
# needs and that is not among ours; else nothing. Compiling and linking do not show that.
function(needs_another libraries pattern ours var)
  set(${var} "" PARENT_SCOPE)
  foreach(library IN LISTS libraries)
    if(NOT EXISTS "${library}")
      continue()
    endif()
    file(REAL_PATH "${library}" real)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
    string(REGEX MATCHALL "NEEDED +${pattern}\\.so[^ \n]*" needed "${headers}")
    list(TRANSFORM needed REPLACE "NEEDED +" "")
    foreach(name IN LISTS needed)
      if(NOT name IN_LIST ours)
        set(${var} "${name}" PARENT_SCOPE)
      endif()
    endforeach()
  endforeach()
endfunction()

# needs_another_mpi(<libraries> <var>): whether one of these shared libraries needs an MPI library other than ours.
function(needs_another_mpi libraries var)
  set(ours "")
  foreach(library IN LISTS MPI_C_LIBRARIES)
    soname("${library}" name)
    list(APPEND ours "${name}")
  endforeach()
  needs_another("${libraries}" "libmpi(ch)?" "${ours}" other)
  set(${var} FALSE PARENT_SCOPE)
  if(other)
    set(${var} TRUE PARENT_SCOPE)
  endif()
endfunction()

# has_versions(<file> <var>): whether the symbols of a shared library have versions. Two libraries with the same symbols can be in
# one process then.
function(has_versions file var)
  file(REAL_PATH "${file}" real)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
  set(${var} FALSE PARENT_SCOPE)
  if(headers MATCHES "Version definitions")
    set(${var} TRUE PARENT_SCOPE)
  endif()
endfunction()
