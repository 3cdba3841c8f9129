# SPDX-License-Identifier: BSD-3-Clause
# Fails unless the page PAGE has the table that COMMAND (the command iocomp) prints of what formats can hold.
execute_process(
  COMMAND ${COMMAND} info --rules
  OUTPUT_VARIABLE printed
  RESULT_VARIABLE status
)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${COMMAND} info --rules ended with ${status}")
endif()
file(READ ${PAGE} stored)
string(FIND "${stored}" "${printed}" at)
if(printed STREQUAL "" OR at EQUAL -1)
  message(
    FATAL_ERROR
    "The table in ${PAGE} is not what src/formats/rules.h says. Put there what this prints, and commit it:\n"
    "  ${COMMAND} info --rules"
  )
endif()
