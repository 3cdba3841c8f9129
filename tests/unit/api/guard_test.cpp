// SPDX-License-Identifier: BSD-3-Clause
#include "api/guard.h"

#include <gtest/gtest.h>
#include <iocomp/iocomp.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "base/host.h"

namespace iocomp::api {
namespace {

TEST(Guarded, ReturnsZeroAndLeavesTheStory) {
  last_story() = "of before";
  bool ran = false;
  EXPECT_EQ(guarded([&] { ran = true; }), IOCOMP_OK);
  EXPECT_TRUE(ran);
  EXPECT_EQ(last_story(), "of before");
}

TEST(Guarded, TurnsAnErrorIntoItsCodeAndStory) {
  EXPECT_EQ(guarded([] { throw Error{ErrorCode::storage_failure, "no space left on /scratch"}; }),
            IOCOMP_STORAGE_FAILURE);
  EXPECT_EQ(last_story(), "no space left on /scratch");
}

TEST(Guarded, TurnsOtherExceptionsIntoInternalErrors) {
  EXPECT_EQ(guarded([] { throw std::out_of_range{"index 7"}; }), IOCOMP_INTERNAL);
  EXPECT_EQ(last_story(), "index 7");
  EXPECT_EQ(guarded([] { throw std::bad_alloc{}; }), IOCOMP_INTERNAL);
  EXPECT_NE(last_story(), "index 7");
  EXPECT_EQ(guarded([] { throw 7; }), IOCOMP_INTERNAL);
  EXPECT_EQ(last_story(), "unknown exception");
}

TEST(Guarded, RunsNothingInAChildOfFork) {
  GTEST_FLAG_SET(death_test_style, "fast");  // forks, and does not begin the program anew
  EXPECT_EXIT(std::_Exit(guarded([] { std::_Exit(7); })), testing::ExitedWithCode(7), "")
      << "its parent has no session yet";
  note_process();
  EXPECT_EXIT(std::_Exit(guarded([] { std::_Exit(0); })),
              testing::ExitedWithCode(IOCOMP_INVALID_ARGUMENT), "");
}

TEST(Require, NamesTheCallAndWhatIsNull) {
  EXPECT_NO_THROW(require(&last_story(), "put", "the variable"));
  EXPECT_EQ(guarded([] { require(nullptr, "put", "the variable"); }), IOCOMP_INVALID_ARGUMENT);
  EXPECT_EQ(last_story(), "put: the variable is null");
}

TEST(Require, TellsOfAFailureWhoseCodeNobodyMayHaveSeen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        guarded([] { throw Error{ErrorCode::storage_failure, "no space left on /scratch"}; });
        guarded([] { require(nullptr, "put", "the variable"); });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "iocomp: put, after a call that had failed: no space left");
}

// The values of iocomp.h are those that the rooms throw.
static_assert(IOCOMP_OK == static_cast<int>(ErrorCode::ok));
static_assert(IOCOMP_INVALID_ARGUMENT == static_cast<int>(ErrorCode::invalid_argument));
static_assert(IOCOMP_OUT_OF_STAGING == static_cast<int>(ErrorCode::out_of_staging_memory));
static_assert(IOCOMP_STORAGE_FAILURE == static_cast<int>(ErrorCode::storage_failure));
static_assert(IOCOMP_MPI_FAILURE == static_cast<int>(ErrorCode::mpi_failure));
static_assert(IOCOMP_INVALID_SETTING == static_cast<int>(ErrorCode::invalid_setting));
static_assert(IOCOMP_TARGET_EXISTS == static_cast<int>(ErrorCode::target_exists));
static_assert(IOCOMP_INCONSISTENT_CALLS == static_cast<int>(ErrorCode::inconsistent_calls));
static_assert(IOCOMP_TIMED_OUT == static_cast<int>(ErrorCode::timed_out));
static_assert(IOCOMP_UNSUPPORTED == static_cast<int>(ErrorCode::unsupported));
static_assert(IOCOMP_NOT_FOUND == static_cast<int>(ErrorCode::not_found));
static_assert(IOCOMP_OVERLAPPING_PUTS == static_cast<int>(ErrorCode::overlapping_puts));
static_assert(IOCOMP_INTERNAL == static_cast<int>(ErrorCode::internal));

}  // namespace
}  // namespace iocomp::api
