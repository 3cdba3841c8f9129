# SPDX-License-Identifier: BSD-3-Clause
# launcher.json: what the programs in studies/, apps/demo/ and bench/ need to know about a build with clients.
list(JOIN MPIEXEC_PREFLAGS "\", \"" preflags)
if(NOT IOCOMP_SCALAPACK_FOUND)
  set(missing_clients "\"hpl\": \"built without ScaLAPACK: ${IOCOMP_SCALAPACK_REASON}\"")
endif()
file(
  GENERATE OUTPUT ${CMAKE_BINARY_DIR}/launcher.json
  CONTENT
    "{\"mpiexec\": [\"${MPIEXEC_EXECUTABLE}\"$<$<BOOL:${preflags}>:, \"${preflags}\">], \"ranks_flag\": \"${MPIEXEC_NUMPROC_FLAG}\", \"build_type\": \"${CMAKE_BUILD_TYPE}\", \"missing\": {${missing_clients}}}\n"
)
