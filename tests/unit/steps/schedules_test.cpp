// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "unit/seed.h"
#include "world.h"

namespace iocomp::steps {
namespace {

#ifdef NDEBUG
constexpr std::uint64_t usual_histories = 1'000'000;
#else
constexpr std::uint64_t usual_histories = 50'000;
#endif

std::uint64_t histories() {
  const char* asked = std::getenv("IOCOMP_TEST_SCHEDULES");
  return asked == nullptr ? usual_histories : std::stoull(asked);
}

// IOCOMP_TEST_SEED repeats a run, IOCOMP_TEST_SCHEDULES says how many histories it has.
TEST(Coordinator, KeepsItsRulesInRandomSchedules) {
  const std::uint64_t first = std::uint64_t{test_seed()} << 32U;
  std::int64_t commits = 0;
  const double begin = now_seconds();
  for (std::uint64_t history = 0; history < histories(); ++history) {
    World world{first + history};
    const std::string wrong = world.run();
    commits += world.commits();
    if (!wrong.empty()) {
      World again{first + history, true};
      (void)again.run();
      FAIL() << wrong << "; " << seed_text(static_cast<std::uint32_t>(first >> 32U)) << ", history "
             << history << ":\n"
             << again.log();
    }
  }
  EXPECT_GT(commits, static_cast<std::int64_t>(histories() / 2)) << "they do not even begin";
  RecordProperty("schedules_per_second",
                 std::to_string(static_cast<double>(histories()) / (now_seconds() - begin)));
}

}  // namespace
}  // namespace iocomp::steps
