// SPDX-License-Identifier: BSD-3-Clause
#include "disk/ring.h"

#include <liburing.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/log.h"
#include "disk/flush_window.h"

namespace iocomp::disk {
namespace {

// These constants are from <linux/io_uring.h> and <linux/futex.h>; the headers that we build with
// may be older.
constexpr std::uint8_t futex_wait_operation = 51;
constexpr int futex_of_32_bits = 2;
constexpr std::uint64_t any_waker = 0xFFFFFFFF;

constexpr std::chrono::nanoseconds nap = std::chrono::milliseconds{1};

// Tags of our own; callers count theirs from 0.
constexpr std::uint64_t word_tag = std::numeric_limits<std::uint64_t>::max() - 2;
constexpr std::uint64_t withdrawal_tag = word_tag - 1;

[[noreturn]] void refuse(int error) {
  throw Error{ErrorCode::unsupported, std::generic_category().message(error)};
}

// Answers shall not interrupt the application's computing: they are looked at when the thread
// enters the kernel anyway. Older kernels do not know the wish.
int set_up(unsigned places, io_uring& ring) {
  io_uring_params wish{};
  wish.flags = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
  int error = io_uring_queue_init_params(places, &ring, &wish);
  if (error == -EINVAL) {
    wish = {};
    error = io_uring_queue_init_params(places, &ring, &wish);
  }
  return -error;
}

// 0, or why this ring does not do.
int check_operations(io_uring& ring, bool& waits_on_words) {
  io_uring_probe* probe = io_uring_get_probe_ring(&ring);
  if (probe == nullptr) {
    return ENOSYS;
  }
  const bool enough = io_uring_opcode_supported(probe, IORING_OP_WRITE) != 0 &&
                      io_uring_opcode_supported(probe, IORING_OP_FSYNC) != 0 &&
                      io_uring_opcode_supported(probe, IORING_OP_SYNC_FILE_RANGE) != 0 &&
                      (ring.features & IORING_FEAT_EXT_ARG) != 0;
  waits_on_words = io_uring_opcode_supported(probe, futex_wait_operation) != 0;
  io_uring_free_probe(probe);
  return enough ? 0 : ENOSYS;
}

// The error for which a ring takes no requests, now or later; 0 if there is none. Sandboxes may let
// a process have a ring, and refuse its requests.
int refusal(int submitted) {
  const bool is_for_now = submitted == -EAGAIN || submitted == -EBUSY || submitted == -EINTR;
  return submitted >= 0 || is_for_now ? 0 : -submitted;
}

// A limit for regular files, and none for the rest. Kernels before 5.15 have none; those before 6.3
// write to one file by one worker anyway.
void limit_workers(io_uring& ring, unsigned workers) {
  std::array<unsigned, 2> most{workers, 0};
  (void)io_uring_register_iowq_max_workers(&ring, most.data());
}

}  // namespace

Ring::Ring(unsigned places, unsigned workers) {
  int error = set_up(places, ring_);
  if (error != 0) {
    refuse(error);
  }
  error = check_operations(ring_, waits_on_words_);
  if (error == 0) {
    cancel(withdrawal_tag);
    error = refusal(io_uring_submit(&ring_));
  }
  if (error != 0) {
    io_uring_queue_exit(&ring_);
    refuse(error);
  }
  if (workers > 0) {
    limit_workers(ring_, workers);
  }
}

Ring::~Ring() { io_uring_queue_exit(&ring_); }

std::size_t Ring::room() const noexcept { return io_uring_sq_space_left(&ring_); }

// The caller has looked for room.
io_uring_sqe& Ring::place() noexcept {
  io_uring_sqe& request = *io_uring_get_sqe(&ring_);
  request = {};
  return request;
}

// Always in a kernel worker: to begin a write here would cost the caller the pinning of its pages,
// and the locks and allocations of the file system.
void Ring::write(int descriptor, std::span<const std::byte> bytes, std::int64_t offset,
                 std::uint64_t tag, Then then) {
  io_uring_sqe& request = place();
  io_uring_prep_write(&request, descriptor, bytes.data(), static_cast<unsigned>(bytes.size()),
                      static_cast<std::uint64_t>(offset));
  request.user_data = tag;
  request.flags = static_cast<std::uint8_t>(IOSQE_ASYNC | (then == Then::next ? IOSQE_IO_LINK : 0));
}

void Ring::sync(int descriptor, std::uint64_t tag) {
  io_uring_sqe& request = place();
  io_uring_prep_fsync(&request, descriptor, IORING_FSYNC_DATASYNC);
  request.user_data = tag;
}

void Ring::flush(int descriptor, const FileRange& range, std::uint64_t tag) {
  constexpr std::int64_t longest = std::numeric_limits<std::uint32_t>::max();
  io_uring_sqe& request = place();
  io_uring_prep_sync_file_range(&request, descriptor,
                                static_cast<unsigned>(std::min(range.bytes, longest)),
                                static_cast<std::uint64_t>(range.offset), SYNC_FILE_RANGE_WRITE);
  request.user_data = tag;
}

// If the kernel takes no requests now, the write that should be withdrawn goes on.
void Ring::cancel(std::uint64_t tag) noexcept {
  if (room() == 0) {
    submit();
  }
  if (room() > 0) {
    io_uring_sqe& request = place();
    io_uring_prep_cancel64(&request, tag, 0);
    request.user_data = withdrawal_tag;
  }
}

// Requests that the kernel does not take now stay in the ring until the next call. The caller does
// not touch the ring before the thread has submitted.
void Ring::submit() noexcept {
  if (io_uring_sq_ready(&ring_) == 0) {
    return;
  }
  int submitted = 0;
  const auto ask = [this, &submitted] { submitted = io_uring_submit(&ring_); };
  if (submitter_) {
    (void)submitter_->run(ask);
  } else {
    ask();
  }
  if (const int error = refusal(submitted); error != 0 && !std::exchange(is_refusal_told_, true)) {
    log::error("io_uring: " + std::generic_category().message(error) +
               "; the kernel does not write what it was asked for");
  }
}

void Ring::submit_by_thread() { submitter_ = std::make_unique<Worker>("iocomp-disk"); }

void Ring::keep_answers() noexcept {
  io_uring_cqe* answer = nullptr;
  while (io_uring_peek_cqe(&ring_, &answer) == 0) {
    if (answer->user_data == word_tag) {
      is_word_asked_ = false;
    } else if (answer->user_data < withdrawal_tag &&
               !(is_word_asked_ && has_bug(Bug::answer_lost))) {
      kept_.push_back({.tag = answer->user_data, .result = answer->res});
    }
    io_uring_cqe_seen(&ring_, answer);
  }
}

void Ring::take(std::vector<RingAnswer>& answers) {
  keep_answers();
  answers.insert(answers.end(), kept_.begin(), kept_.end());
  kept_.clear();
}

void Ring::wait(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) noexcept {
  keep_answers();
  if (!kept_.empty() || (word && word->has_changed())) {
    return;
  }
  const bool is_asked = word && ask_for_word(*word);
  // If the kernel cannot wait for both, look at the word again and again.
  sleep(word && !is_asked ? std::min(longest, nap) : longest);
  keep_answers();
  if (is_word_asked_) {
    withdraw_word();
  }
}

void Ring::sleep(std::chrono::nanoseconds longest) noexcept {
  constexpr std::chrono::nanoseconds endless = std::chrono::hours{24};
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t limit = std::clamp(longest, std::chrono::nanoseconds{0}, endless).count();
  __kernel_timespec time{.tv_sec = limit / second, .tv_nsec = limit % second};
  io_uring_cqe* answer = nullptr;
  if (submitter_) {
    submit();
  }
  const int result = io_uring_submit_and_wait_timeout(&ring_, &answer, 1, &time, nullptr);
  if (result < 0 && result != -ETIME && result != -EINTR) {  // nobody spins, whatever is wrong
    std::this_thread::sleep_for(std::min(longest, nap));
  }
}

bool Ring::ask_for_word(const FutexWord& word) noexcept {
  if (!waits_on_words_ || room() == 0) {
    return false;
  }
  io_uring_sqe& request = place();
  io_uring_prep_rw(futex_wait_operation, &request, futex_of_32_bits, word.word, 0, word.seen);
  request.addr3 = any_waker;
  request.user_data = word_tag;
  is_word_asked_ = true;
  return true;
}

// Left behind it could swallow a wake-up that is meant for another sleeper.
void Ring::withdraw_word() noexcept {
  while (is_word_asked_ && room() == 0) {
    sleep({});
  }
  io_uring_sqe& request = place();
  io_uring_prep_cancel64(&request, word_tag, 0);
  request.user_data = withdrawal_tag;
  while (is_word_asked_) {
    sleep(std::chrono::milliseconds{1});
    keep_answers();
  }
}

}  // namespace iocomp::disk
