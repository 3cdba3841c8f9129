# SPDX-License-Identifier: BSD-3-Clause
# Compile through ccache where it is installed, unless the caller has chosen a launcher.
find_program(IOCOMP_CCACHE ccache)
mark_as_advanced(IOCOMP_CCACHE)
if(IOCOMP_CCACHE AND PROJECT_IS_TOP_LEVEL)
  foreach(language IN ITEMS C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${IOCOMP_CCACHE})
    endif()
  endforeach()
endif()
