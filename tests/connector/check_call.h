// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>

namespace connector_test {

/// The result of a call of HDF5 or MPI that has to have success.
template <typename Result>
Result good(Result result, const char* call, int line) {
  if (result < 0) {
    std::fprintf(stderr, "line %d: %s failed\n", line, call);
    std::abort();
  }
  return result;
}

}  // namespace connector_test

#define GOOD(call) connector_test::good((call), #call, __LINE__)
