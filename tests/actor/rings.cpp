// SPDX-License-Identifier: BSD-3-Clause
// io_uring's requests, before the kernel gets them: they can fail (faults.h) as the calls do that
// they stand for, and are recorded (recorder.h). What liburing does inline, such as looking for
// answers, is out of reach. So requests are changed instead of answers: the kernel itself gives the
// answer that is wanted.
#include <dlfcn.h>
#include <fcntl.h>
#include <liburing.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "faults.h"
#include "recorder.h"

namespace actor {
namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Writes that are recorded and have no answer yet.
struct Ring {
  unsigned seen = 0;                            // answers so far
  std::map<std::uint64_t, std::uint64_t> open;  // the numbers of their records, by user_data
};

struct Rings {
  std::mutex mutex;
  std::map<const io_uring*, Ring> all;  // guarded by mutex
};

Rings& rings() {
  static Rings kept;
  return kept;
}

/// Writes to it fail in the kernel, with this errno.
int failing_descriptor(int error) {
  static const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  static const int memory = ::open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  return error == ENOSPC ? full : memory;  // nothing is mapped at 0: EIO
}

void fail(io_uring_sqe& request, int error) {
  static const std::byte nothing{};
  const auto user_data = request.user_data;
  const auto flags = request.flags;
  io_uring_prep_write(&request, failing_descriptor(error), &nothing, sizeof nothing, 0);
  request.user_data = user_data;
  request.flags = flags;
}

void succeed(io_uring_sqe& request) {
  const auto user_data = request.user_data;
  const auto flags = request.flags;
  io_uring_prep_nop(&request);
  request.user_data = user_data;
  request.flags = flags;
}

// Answers stay where they are until the kernel needs the place, which it cannot before another
// request comes by here.
void note_answers(const io_uring& ring, Ring& kept) {
  const unsigned end = __atomic_load_n(ring.cq.ktail, __ATOMIC_ACQUIRE);
  for (; kept.seen != end; ++kept.seen) {
    const io_uring_cqe& answer = ring.cq.cqes[kept.seen & *ring.cq.kring_mask];
    const auto found = kept.open.find(answer.user_data);
    if (found != kept.open.end()) {
      recorder::done(found->second, answer.res);
      kept.open.erase(found);
    }
  }
}

void write(io_uring_sqe& request, Ring& kept) {
  const Verdict verdict = verdict_on("pwrite", request.fd, request.len);
  if (verdict.error != 0) {
    fail(request, verdict.error);
    return;
  }
  request.len = static_cast<unsigned>(verdict.allowed);
  if (recorder::concerns(request.fd)) {
    const auto id = recorder::new_id();
    const auto* const bytes = reinterpret_cast<const std::byte*>(request.addr);
    const recorder::Turn turn;
    recorder::wrote(request.fd, {bytes, request.len}, static_cast<std::int64_t>(request.off), id);
    kept.open[request.user_data] = id;
  }
}

// A recorded request is done here and now: a rank that sees the answer may act on it before the
// next request comes by, and then the record would be too late.
void sync(io_uring_sqe& request) {
  if (const Verdict verdict = verdict_on("sync", request.fd, 0); verdict.error != 0) {
    if (recorder::concerns(request.fd)) {
      const recorder::Turn turn;
      recorder::synced(request.fd, false);
    }
    fail(request, verdict.error);
    return;
  }
  if (recorder::concerns(request.fd)) {
    if (::fdatasync(request.fd) == 0) {
      succeed(request);
    } else {
      fail(request, errno);
    }
  }
}

void inspect(io_uring& ring) {
  Rings& kept = rings();
  const std::scoped_lock lock{kept.mutex};
  Ring& own = kept.all[&ring];
  if (!own.open.empty()) {
    const recorder::Turn turn;
    note_answers(ring, own);
  } else {
    own.seen = __atomic_load_n(ring.cq.ktail, __ATOMIC_ACQUIRE);
  }
  for (unsigned at = ring.sq.sqe_head; at != ring.sq.sqe_tail; ++at) {
    io_uring_sqe& request = ring.sq.sqes[at & *ring.sq.kring_mask];
    if (request.opcode == IORING_OP_WRITE) {
      write(request, own);
    } else if (request.opcode == IORING_OP_FSYNC) {
      sync(request);
    }
  }
}

// Ranks see answers inline, and tell others of them. Before that they look at their file.
void note_answers_seen() {
  Rings& kept = rings();
  const std::scoped_lock lock{kept.mutex};
  for (auto& [ring, own] : kept.all) {
    if (!own.open.empty()) {
      const recorder::Turn turn;
      note_answers(*ring, own);
    }
  }
}

}  // namespace
}  // namespace actor

extern "C" {

int fstat(int descriptor, struct stat* status) noexcept {
  static auto* const real = actor::next<int(int, struct stat*)>("fstat");
  actor::note_answers_seen();
  return real(descriptor, status);
}

int io_uring_submit(io_uring* ring) {
  static auto* const real = actor::next<decltype(io_uring_submit)>("io_uring_submit");
  actor::inspect(*ring);
  return real(ring);
}

int io_uring_submit_and_wait_timeout(io_uring* ring, io_uring_cqe** answer, unsigned least,
                                     __kernel_timespec* time, sigset_t* mask) {
  static auto* const real =
      actor::next<decltype(io_uring_submit_and_wait_timeout)>("io_uring_submit_and_wait_timeout");
  actor::inspect(*ring);
  return real(ring, answer, least, time, mask);
}

void io_uring_queue_exit(io_uring* ring) {
  static auto* const real = actor::next<decltype(io_uring_queue_exit)>("io_uring_queue_exit");
  {
    actor::Rings& kept = actor::rings();
    const std::scoped_lock lock{kept.mutex};
    kept.all.erase(ring);
  }
  real(ring);
}

}  // extern "C"
