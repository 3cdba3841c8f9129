// SPDX-License-Identifier: BSD-3-Clause
// Calls of the C library, in front of its own (LD_PRELOAD): in a simulated rank, time is that of
// the simulation, threads are actors of it, and what is written takes the time of the storage that
// the machine has. The bytes go to the real disk.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <list>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>

namespace s4u = simgrid::s4u;

namespace {

/// The function of the C library that this one stands before.
template <typename Function>
Function* real(const char* name, Function* /*like*/) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name)                                    \
  (*[] {                                              \
    static auto* const next_one = real(#name, &name); \
    return next_one;                                  \
  }())

constexpr double nanosecond = 1e-9;
// Below its precision the simulation's clock would stand still, and who looks at it until some time
// wait for ever.
constexpr double shortest = 10 * nanosecond;

bool is_simulated() { return !s4u::Actor::is_maestro(); }

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + nanosecond * static_cast<double>(time.tv_nsec);
}
timespec timespec_of(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  return {whole, static_cast<long>((seconds - static_cast<double>(whole)) / nanosecond)};
}
void sleep_for(double seconds) { s4u::this_actor::sleep_for(std::max(seconds, shortest)); }

/// Actors that sleep on a word or a condition, by its address, the first one first.
class Sleepers {
 public:
  /// @param limit  in seconds; < 0: none. @return false if that was over first
  bool sleep(const void* on, double limit) {
    const auto woken = s4u::Semaphore::create(0);
    auto& here = all_[on];
    const auto own = here.insert(here.end(), woken);
    if (limit < 0) {
      woken->acquire();
      return true;
    }
    if (!woken->acquire_timeout(std::max(limit, shortest))) {
      return true;
    }
    // Nobody has woken it: it is still there.
    all_[on].erase(own);
    if (all_[on].empty()) {
      all_.erase(on);
    }
    return false;
  }
  int wake(const void* on, int most) {
    int woken = 0;
    while (woken < most) {
      const auto found = all_.find(on);
      if (found == all_.end()) {
        break;
      }
      const auto first = found->second.front();
      found->second.pop_front();
      if (found->second.empty()) {
        all_.erase(found);
      }
      ++woken;
      first->release();
    }
    return woken;
  }

 private:
  std::map<const void*, std::list<s4u::SemaphorePtr>> all_;
};
Sleepers& sleepers() {
  static auto& one = *new Sleepers;
  return one;
}

struct Thread {
  s4u::ActorPtr actor;
  void* result = nullptr;
};
std::map<pthread_t, Thread*>& threads() {
  static auto& all = *new std::map<pthread_t, Thread*>;
  return all;
}

/// Storage targets are hosts with one disk: "target0", "target1", ...
class Storage {
 public:
  Storage() {
    auto* const engine = s4u::Engine::get_instance();
    while (auto* const host = engine->host_by_name_or_null("target" + std::to_string(count_))) {
      targets_[count_++] = host;
    }
  }
  /// Bytes at this place of a file are on their way until they are there.
  void write(std::size_t file, std::int64_t offset, std::size_t bytes) {
    if (count_ == 0) {
      return;
    }
    const auto stripe = static_cast<std::size_t>(offset / stripe_bytes);
    auto* const target =
        targets_[static_cast<int>((file + stripe) % static_cast<std::size_t>(count_))];
    s4u::Comm::sendto(s4u::this_actor::get_host(), target, bytes);
    target->get_disks().front()->write(bytes);
  }

 private:
  static constexpr std::int64_t stripe_bytes = 1 << 20;
  std::map<int, s4u::Host*> targets_;
  int count_ = 0;
};

// Only what goes to files costs time, not logs.
void write_in_simulation(int descriptor, std::int64_t offset, ssize_t bytes) {
  struct stat status{};
  if (bytes > 0 && is_simulated() && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    static auto& storage = *new Storage;
    storage.write(status.st_ino, offset, static_cast<std::size_t>(bytes));
  }
}
// A round to the target, and what its cache does not hide.
constexpr double sync_seconds = 100e-6;

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if ((clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) || !is_simulated()) {
    return REAL(clock_gettime)(clock, time);
  }
  *time = timespec_of(s4u::Engine::get_clock());
  return 0;
}
int nanosleep(const timespec* time, timespec* left) {
  if (!is_simulated()) {
    return REAL(nanosleep)(time, left);
  }
  sleep_for(seconds_of(*time));
  return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (!is_simulated()) {
    return REAL(clock_nanosleep)(clock, flags, time, left);
  }
  sleep_for(seconds_of(*time) - (flags != 0 ? s4u::Engine::get_clock() : 0));
  return 0;
}
int sched_yield() noexcept {
  if (!is_simulated()) {
    return REAL(sched_yield)();
  }
  sleep_for(1e-6);
  return 0;
}

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (auto& argument : arguments) {
    argument = va_arg(list, long);
  }
  va_end(list);
  const long operation = arguments[1] & ~FUTEX_PRIVATE_FLAG;
  if (number != SYS_futex || !is_simulated() ||
      (operation != FUTEX_WAIT && operation != FUTEX_WAKE && operation != FUTEX_WAIT_BITSET)) {
    return REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3],
                         arguments[4], arguments[5]);
  }
  auto* const word = reinterpret_cast<std::atomic<std::uint32_t>*>(arguments[0]);
  if (operation == FUTEX_WAKE) {
    return sleepers().wake(word, static_cast<int>(arguments[2]));
  }
  if (word->load() != static_cast<std::uint32_t>(arguments[2])) {
    errno = EAGAIN;
    return -1;
  }
  const auto* const limit = reinterpret_cast<const timespec*>(arguments[3]);
  const double since = operation == FUTEX_WAIT_BITSET ? s4u::Engine::get_clock() : 0;
  if (!sleepers().sleep(word,
                        limit == nullptr ? -1 : std::max(shortest, seconds_of(*limit) - since))) {
    errno = ETIMEDOUT;
    return -1;
  }
  return 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  if (!is_simulated()) {
    return REAL(pthread_create)(thread, attributes, body, argument);
  }
  auto* const made = new Thread;
  made->actor = s4u::Actor::create("thread", s4u::this_actor::get_host(),
                                   [made, body, argument] { made->result = body(argument); });
  *thread = reinterpret_cast<pthread_t>(made);
  threads()[*thread] = made;
  return 0;
}
int pthread_join(pthread_t thread, void** result) {
  const auto found = threads().find(thread);
  if (found == threads().end()) {
    return REAL(pthread_join)(thread, result);
  }
  found->second->actor->join();
  if (result != nullptr) {
    *result = found->second->result;
  }
  delete found->second;
  threads().erase(found);
  return 0;
}
int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  return is_simulated() ? 0 : REAL(pthread_setname_np)(thread, name);
}
// A thread that holds it may have given its turn away: to wake somebody is to do so.
int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!is_simulated()) {
    return REAL(pthread_mutex_lock)(mutex);
  }
  int error = pthread_mutex_trylock(mutex);
  while (error == EBUSY) {
    s4u::this_actor::yield();
    error = pthread_mutex_trylock(mutex);
  }
  return error;
}
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!is_simulated()) {
    return REAL(pthread_cond_wait)(condition, mutex);
  }
  pthread_mutex_unlock(mutex);
  sleepers().sleep(condition, -1);
  pthread_mutex_lock(mutex);
  return 0;
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* end) {
  if (!is_simulated()) {
    return REAL(pthread_cond_clockwait)(condition, mutex, clock, end);
  }
  pthread_mutex_unlock(mutex);
  const bool woken =
      sleepers().sleep(condition, std::max(shortest, seconds_of(*end) - s4u::Engine::get_clock()));
  pthread_mutex_lock(mutex);
  return woken ? 0 : ETIMEDOUT;
}
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  return is_simulated() ? pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, end)
                        : REAL(pthread_cond_timedwait)(condition, mutex, end);
}
int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (!is_simulated()) {
    return REAL(pthread_cond_signal)(condition);
  }
  sleepers().wake(condition, 1);
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (!is_simulated()) {
    return REAL(pthread_cond_broadcast)(condition);
  }
  sleepers().wake(condition, 1 << 30);
  return 0;
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  const ssize_t written = REAL(pwrite64)(descriptor, bytes, count, offset);
  write_in_simulation(descriptor, offset, written);
  return written;
}
ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  return pwrite64(descriptor, bytes, count, offset);
}
ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  const ssize_t written = REAL(pwritev)(descriptor, parts, count, offset);
  write_in_simulation(descriptor, offset, written);
  return written;
}
// Bytes of regular files count: all others that it writes are logs.
ssize_t write(int descriptor, const void* bytes, size_t count) {
  const ssize_t written = REAL(write)(descriptor, bytes, count);
  write_in_simulation(descriptor, 0, written);
  return written;
}
// The real disk is not asked: nothing is to survive here.
int fsync(int descriptor) {
  if (!is_simulated()) {
    return REAL(fsync)(descriptor);
  }
  sleep_for(sync_seconds);
  return 0;
}
int fdatasync(int descriptor) { return fsync(descriptor); }
int sync_file_range(int descriptor, off64_t offset, off64_t count, unsigned flags) {
  return is_simulated() ? 0 : REAL(sync_file_range)(descriptor, offset, count, flags);
}

}  // extern "C"
