// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "base/error.h"
#include "formats/adios2/failure.h"

namespace iocomp::formats::bp {
namespace {

std::string told(const std::string& text) {
  return failure_of_adios2("write to a.bp", std::runtime_error{text}).what();
}

// As ADIOS2 2.12 has said it.
TEST(FailureOfAdios2, IsToldWithoutItsDateAndColours) {
  EXPECT_EQ(
      told("\x1b[1;36m[Wed Nov 25 17:40:44 2026]\x1b[1;34m [ADIOS2 EXCEPTION]\x1b[0m <Toolkit> "
           "<Write> : couldn't write to file md.0 : errno = 28\x1b[0m\n: iostream error"),
      "cannot write to a.bp: ADIOS2: <Toolkit> <Write> : couldn't write to file md.0 : errno = "
      "28: iostream error");
}

TEST(FailureOfAdios2, IsToldAsItIsWhereItHasNone) {
  EXPECT_EQ(told("no room"), "cannot write to a.bp: ADIOS2: no room");
  EXPECT_EQ(told("cut \x1b[1;3"), "cannot write to a.bp: ADIOS2: cut ");
  EXPECT_EQ(failure_of_adios2("read", std::runtime_error{""}).code(), ErrorCode::storage_failure);
}

}  // namespace
}  // namespace iocomp::formats::bp
