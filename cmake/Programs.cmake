# SPDX-License-Identifier: BSD-3-Clause
# The target programs: the library, its modules, the command and the clients, but no tests. For `make bench`.
function(targets_below folder var)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    targets_below(${subfolder} below)
    list(APPEND targets ${below})
  endforeach()
  set(${var} "${targets}" PARENT_SCOPE)
endfunction()

add_custom_target(programs)
get_property(folders DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY SUBDIRECTORIES)
list(FILTER folders EXCLUDE REGEX "/tests$")
foreach(folder IN LISTS folders)
  targets_below(${folder} targets)
  list(FILTER targets EXCLUDE REGEX "verify_interface_header_sets")
  if(targets)
    add_dependencies(programs ${targets})
  endif()
endforeach()

# The target demo_programs: what apps/demo/demo.py runs, and nothing else.
add_custom_target(demo_programs)
if(TARGET stream)
  add_dependencies(demo_programs stream)
endif()
