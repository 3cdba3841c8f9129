// SPDX-License-Identifier: BSD-3-Clause
#include "topology/binding.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace iocomp::topology {
namespace {

TEST(ThreadBinder, BindsOneThreadAndLeavesTheOthers) {
  const auto before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  const ThreadBinder binder;
  std::vector<int> bound;
  std::jthread{[&] {
    binder.bind_this_thread({before.back()});
    bound = allowed_cpus();
  }}.join();
  EXPECT_EQ(bound, std::vector<int>{before.back()});
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(ThreadBinder, TellsWhereAThreadMayRunThatCannotBeBound) {
  const ThreadBinder binder;
  try {
    binder.bind_this_thread({1 << 15});
    FAIL() << "bound to a CPU that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string{error.what()}.find("CPU 32768 alone, and may run on"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace iocomp::topology
