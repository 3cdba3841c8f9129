# SPDX-License-Identifier: BSD-3-Clause
# Fails unless the file REFERENCE is what COMMAND (the command iocomp) prints for the settings it knows.
execute_process(
  COMMAND ${COMMAND} config --markdown
  OUTPUT_VARIABLE printed
  RESULT_VARIABLE status
)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${COMMAND} config --markdown ended with ${status}")
endif()
set(stored "")
if(EXISTS ${REFERENCE})
  file(READ ${REFERENCE} stored)
endif()
if(NOT printed STREQUAL stored)
  message(
    FATAL_ERROR
    "${REFERENCE} is not what the settings table says. Make it anew and commit it:\n"
    "  ${COMMAND} config --markdown > ${REFERENCE}"
  )
endif()
