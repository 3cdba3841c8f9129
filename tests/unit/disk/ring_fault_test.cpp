// SPDX-License-Identifier: BSD-3-Clause
// Rings of kernels that have less than the one which runs, or that take nothing for a while.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <liburing.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/futex.h"
#include "disk/ring.h"
#include "disk/start_ring.h"
#include "folder.h"

namespace iocomp::disk {
namespace {

constexpr int futex_wait = 51;

struct Kernel {
  int refuses_flags = 0;     // with this errno
  int refuses_rings = 0;     // with this errno
  bool has_probe = true;     // it tells what it can
  std::vector<int> lacks{};  // operations
  int takes_nothing = 0;     // in so many next waits
  std::vector<unsigned> asked_flags{};
};
Kernel kernel;

template <typename Call>
Call real(const char* name) {
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, name));
}

int set_up(unsigned places, io_uring* ring, io_uring_params* wish) {
  kernel.asked_flags.push_back(wish->flags);
  if (kernel.refuses_rings != 0) {
    return -kernel.refuses_rings;
  }
  if (kernel.refuses_flags != 0 && wish->flags != 0) {
    return -kernel.refuses_flags;
  }
  using Call = int (*)(unsigned, io_uring*, io_uring_params*);
  return real<Call>("io_uring_queue_init_params")(places, ring, wish);
}

io_uring_probe* probe(io_uring* ring) {
  using Call = io_uring_probe* (*)(io_uring*);
  if (!kernel.has_probe) {
    return nullptr;
  }
  io_uring_probe* const found = real<Call>("io_uring_get_probe_ring")(ring);
  for (const int operation : kernel.lacks) {
    if (found != nullptr && operation <= found->last_op) {
      found->ops[operation].flags = 0;
    }
  }
  return found;
}

int submit_and_wait(io_uring* ring, io_uring_cqe** answer, unsigned count, __kernel_timespec* time,
                    sigset_t* signals) {
  if (kernel.takes_nothing > 0) {
    --kernel.takes_nothing;
    return -EAGAIN;
  }
  using Call = int (*)(io_uring*, io_uring_cqe**, unsigned, __kernel_timespec*, sigset_t*);
  return real<Call>("io_uring_submit_and_wait_timeout")(ring, answer, count, time, signals);
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
}

class RingOf : public testing::Test {
 protected:
  void SetUp() override {
    kernel = {};
    io_uring ring{};
    if (io_uring_queue_init(4, &ring, 0) != 0) {
      GTEST_SKIP() << "this process may have no ring";
    }
    const bool is_recent = (ring.features & IORING_FEAT_EXT_ARG) != 0;
    io_uring_queue_exit(&ring);
    if (!is_recent) {
      GTEST_SKIP() << "the kernel is older than 5.11";
    }
    kernel = {};
  }
  ~RingOf() override { kernel = {}; }

  static std::string refusal() {
    try {
      const Ring ring{4, 1};
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      return error.what();
    }
    return "taken";
  }
  // One write and its fsync come back.
  void expect_that_it_writes(Ring& ring) {
    const Descriptor file = opened(folder_.file("f"));
    const PageAligned data{4096};
    ring.write(file.raw(), data.bytes(), 0, 7, Ring::Then::next);
    ring.flush(file.raw(), {.offset = 0, .bytes = 4096}, 9);
    ring.sync(file.raw(), 8);
    ring.submit();
    std::vector<RingAnswer> answers;
    while (answers.size() < 3) {
      ring.wait(std::chrono::seconds{10}, std::nullopt);
      ring.take(answers);
    }
    std::int64_t sum = 0;
    for (const auto& answer : answers) {
      sum += answer.result;
    }
    EXPECT_EQ(sum, 4096);
    EXPECT_TRUE(same(content_of(folder_.file("f")), data.bytes()));
  }

  Folder folder_;
};

TEST_F(RingOf, AKernelThatKnowsTheWishDoesNotInterruptTheProgram) {
  Ring ring{8, 1};
  EXPECT_EQ(kernel.asked_flags,
            std::vector<unsigned>{IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG});
  expect_that_it_writes(ring);
}

TEST_F(RingOf, AKernelThatDoesNotKnowTheWishIsAskedWithoutIt) {
  kernel.refuses_flags = EINVAL;
  Ring ring{8, 0};
  EXPECT_EQ(kernel.asked_flags.size(), 2U);
  EXPECT_EQ(kernel.asked_flags.back(), 0U);
  expect_that_it_writes(ring);
}

TEST_F(RingOf, AKernelThatRefusesTellsWhyAndIsAskedOnce) {
  kernel.refuses_rings = EPERM;
  EXPECT_EQ(refusal(), "Operation not permitted");
  EXPECT_EQ(kernel.asked_flags.size(), 1U);
  kernel.refuses_rings = ENOMEM;
  EXPECT_EQ(refusal(), "Cannot allocate memory");
}

TEST_F(RingOf, AKernelThatCannotDoWhatIsNeededIsNotUsedAndKeepsNoRing) {
  const std::ptrdiff_t before = open_files();
  for (const int operation : {IORING_OP_WRITE, IORING_OP_FSYNC, IORING_OP_SYNC_FILE_RANGE}) {
    kernel.lacks = {operation};
    EXPECT_EQ(refusal(), "Function not implemented") << operation;
  }
  kernel.has_probe = false;
  EXPECT_EQ(refusal(), "Function not implemented");
  EXPECT_EQ(open_files(), before);
}

TEST_F(RingOf, ItIsGoneWithItsDescriptor) {
  const std::ptrdiff_t before = open_files();
  {
    const Ring ring{4, 0};
  }
  EXPECT_EQ(open_files(), before);
}

// A wait leaves nothing behind that a later one would take for its own.
TEST_F(RingOf, AWaitForAWordLeavesTheRingAsItWas) {
  for (const bool waits_on_words : {true, false}) {
    kernel = {};
    if (!waits_on_words) {
      kernel.lacks = {futex_wait};
    }
    Ring ring{8, 0};
    std::atomic<std::uint32_t> value{0};
    for (int round = 0; round < 3; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      const std::uint32_t seen = value.load();
      ring.wait(std::chrono::milliseconds{20}, FutexWord{&value, seen});
      const auto slept = std::chrono::steady_clock::now() - begin;
      EXPECT_LT(slept, std::chrono::seconds{10});
      EXPECT_GE(slept, std::chrono::microseconds{500});  // nobody spins
      EXPECT_EQ(ring.room(), 8U);
      expect_that_it_writes(ring);
      ++value;
      ring.wait(std::chrono::hours{1}, FutexWord{&value, seen});  // it has changed already
    }
  }
}

// The word and the write fill it.
TEST_F(RingOf, ARingThatIsFullGivesRoomToWithdrawAWord) {
  Ring ring{2, 0};
  const Descriptor file = opened(folder_.file("f"));
  const PageAligned data{4096};
  ring.write(file.raw(), data.bytes(), 0, 7, Ring::Then::nothing);
  std::atomic<std::uint32_t> value{0};
  kernel.takes_nothing = 1;
  ring.wait(std::chrono::milliseconds{20}, FutexWord{&value, 0});
  EXPECT_EQ(kernel.takes_nothing, 0);
  std::vector<RingAnswer> answers;
  for (ring.take(answers); answers.empty(); ring.take(answers)) {
    ring.wait(std::chrono::seconds{10}, std::nullopt);
  }
  EXPECT_EQ(answers.front().result, 4096);
  EXPECT_EQ(ring.room(), 2U);
}

}  // namespace
}  // namespace iocomp::disk

// The linker takes these instead of the library's.
extern "C" {

int io_uring_queue_init_params(unsigned places, io_uring* ring, io_uring_params* wish) {
  return iocomp::disk::set_up(places, ring, wish);
}

int io_uring_submit_and_wait_timeout(io_uring* ring, io_uring_cqe** answer, unsigned count,
                                     __kernel_timespec* time, sigset_t* signals) {
  return iocomp::disk::submit_and_wait(ring, answer, count, time, signals);
}

io_uring_probe* io_uring_get_probe_ring(io_uring* ring) { return iocomp::disk::probe(ring); }

}  // extern "C"
