// SPDX-License-Identifier: BSD-3-Clause
// The C library's calls, for the whole program: in a simulated process they go to its Machine and
// World, elsewhere to the C library.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine.h"
#include "world.h"

using simulation::Machine;
using simulation::Nanoseconds;
using simulation::World;

namespace {

/// The function of the C library that this program's own stands before.
template <typename Function>
Function* real(const char* name, Function* /*like*/) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name)                                    \
  (*[] {                                              \
    static auto* const next_one = real(#name, &name); \
    return next_one;                                  \
  }())

template <typename Result>
Result answer(Result result) {
  if (World* const world = World::current(); world != nullptr) {
    world->return_from_call();
  }
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

Nanoseconds in_nanoseconds(const timespec& time) {
  return time.tv_sec * simulation::second + time.tv_nsec;
}

timespec as_timespec(Nanoseconds time) {
  return {.tv_sec = time / simulation::second, .tv_nsec = time % simulation::second};
}

template <typename T>
std::span<std::byte> bytes_of(T* memory, std::size_t count) {
  return {reinterpret_cast<std::byte*>(memory), count};
}
std::span<const std::byte> bytes_of(const void* memory, std::size_t count) {
  return {static_cast<const std::byte*>(memory), count};
}

/// An open folder of the simulated disk.
struct Folder {
  std::vector<std::string> names;
  std::size_t next = 0;
  dirent entry{};
};
std::set<void*>& open_folders() {
  static std::set<void*> all;
  return all;
}

std::map<FILE*, int>& open_streams() {
  static std::map<FILE*, int> all;
  return all;
}

constexpr Nanoseconds started = 1'700'000'000 * simulation::second;  // by the clock on the wall

/// Sleep at an address. 0 or a negative errno.
int futex_wait(Machine& machine,
               const std::vector<std::pair<const std::uint32_t*, std::uint32_t>>& words,
               Nanoseconds until) {
  World& world = machine.world();
  std::vector<const void*> places;
  for (const auto& [word, seen] : words) {
    if (*word != seen) {
      world.spend(100);
      return -EAGAIN;
    }
    places.push_back(machine.memory().place(word));
  }
  return world.sleep_at(places, until) ? 0 : -ETIMEDOUT;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, unsigned));
  va_end(rest);
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(open)(path, flags, mode) : answer(machine->open(path, flags));
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, unsigned));
  va_end(rest);
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(open64)(path, flags, mode) : answer(machine->open(path, flags));
}

int close(int descriptor) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(close)(descriptor) : answer(machine->close(descriptor));
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(pwrite)(descriptor, bytes, count, offset)
                            : answer(machine->write(descriptor, offset, bytes_of(bytes, count)));
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(pwrite64)(descriptor, bytes, count, offset)
                            : answer(machine->write(descriptor, offset, bytes_of(bytes, count)));
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(pread)(descriptor, bytes, count, offset)
                            : answer(machine->read(descriptor, offset, bytes_of(bytes, count)));
}
ssize_t pread64(int descriptor, void* bytes, size_t count, off64_t offset) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(pread64)(descriptor, bytes, count, offset)
                            : answer(machine->read(descriptor, offset, bytes_of(bytes, count)));
}
ssize_t preadv2(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  if (Machine::of(descriptor) == nullptr) {
    return REAL(preadv2)(descriptor, parts, count, offset, flags);
  }
  return answer(ssize_t{-EOPNOTSUPP});
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(write)(descriptor, bytes, count)
                            : answer(machine->write_next(descriptor, bytes_of(bytes, count)));
}
ssize_t read(int descriptor, void* bytes, size_t count) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(read)(descriptor, bytes, count)
                            : answer(machine->read_next(descriptor, bytes_of(bytes, count)));
}
// For reading: what libraries look at before they open a file by its descriptor.
FILE* fopen(const char* path, const char* mode) {
  Machine* const machine = Machine::of(path);
  if (machine == nullptr) {
    return REAL(fopen)(path, mode);
  }
  const int descriptor = answer(machine->open(path, O_RDONLY));
  if (descriptor < 0) {
    return nullptr;
  }
  static constexpr auto number = [](void* cookie) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(cookie));
  };
  const cookie_io_functions_t calls{
      .read = [](void* cookie, char* bytes, size_t count) -> ssize_t {
        return ::read(number(cookie), bytes, count);
      },
      .write = nullptr,
      .seek = [](void* cookie, off64_t* offset, int whence) -> int {
        *offset = ::lseek(number(cookie), *offset, whence);
        return *offset < 0 ? -1 : 0;
      },
      .close = [](void* cookie) -> int { return ::close(number(cookie)); }};
  FILE* const stream =
      fopencookie(reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), "r", calls);
  open_streams()[stream] = descriptor;
  return stream;
}
int fclose(FILE* stream) {
  open_streams().erase(stream);
  return REAL(fclose)(stream);
}
int fileno(FILE* stream) noexcept {
  const auto found = open_streams().find(stream);
  return found == open_streams().end() ? REAL(fileno)(stream) : found->second;
}
FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(lseek)(descriptor, offset, whence)
                            : answer(machine->seek(descriptor, offset, whence));
}
off64_t lseek64(int descriptor, off64_t offset, int whence) noexcept {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(lseek64)(descriptor, offset, whence)
                            : answer(machine->seek(descriptor, offset, whence));
}

int ftruncate(int descriptor, off_t bytes) noexcept {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(ftruncate)(descriptor, bytes)
                            : answer(machine->resize(descriptor, bytes));
}
int ftruncate64(int descriptor, off64_t bytes) noexcept {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(ftruncate64)(descriptor, bytes)
                            : answer(machine->resize(descriptor, bytes));
}
int truncate(const char* path, off_t bytes) noexcept {
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(truncate)(path, bytes) : answer(machine->resize(path, bytes));
}
int truncate64(const char* path, off64_t bytes) noexcept {
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(truncate64)(path, bytes) : answer(machine->resize(path, bytes));
}
int fallocate(int descriptor, int mode, off_t offset, off_t count) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(fallocate)(descriptor, mode, offset, count)
                            : answer(machine->grow(descriptor, offset + count));
}
int posix_fallocate(int descriptor, off_t offset, off_t count) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(posix_fallocate)(descriptor, offset, count)
                            : -machine->grow(descriptor, offset + count);
}
int fsync(int descriptor) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(fsync)(descriptor) : answer(machine->sync(descriptor));
}
int fdatasync(int descriptor) {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(fdatasync)(descriptor) : answer(machine->sync(descriptor));
}
int sync_file_range(int descriptor, off64_t offset, off64_t count, unsigned flags) {
  return Machine::of(descriptor) == nullptr
             ? REAL(sync_file_range)(descriptor, offset, count, flags)
             : 0;
}

int fstat(int descriptor, struct stat* status) noexcept {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(fstat)(descriptor, status)
                            : answer(machine->status(descriptor, *status));
}
int fstat64(int descriptor, struct stat64* status) noexcept {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr
             ? REAL(fstat64)(descriptor, status)
             : answer(machine->status(descriptor, *reinterpret_cast<struct stat*>(status)));
}
int stat(const char* path, struct stat* status) noexcept {
  Machine* const machine = Machine::of(path);
  return machine == nullptr
             ? real("stat", static_cast<int (*)(const char*, struct stat*)>(nullptr))(path, status)
             : answer(machine->status(path, *status));
}
int stat64(const char* path, struct stat64* status) noexcept {
  return stat(path, reinterpret_cast<struct stat*>(status));
}
int lstat(const char* path, struct stat* status) noexcept {
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(lstat)(path, status) : answer(machine->status(path, *status));
}
int fstatat(int folder, const char* name, struct stat* status, int flags) noexcept {
  Machine* const machine = Machine::of(folder);
  return machine == nullptr ? REAL(fstatat)(folder, name, status, flags)
                            : answer(machine->status_in(folder, name, *status));
}
int access(const char* path, int mode) noexcept {
  Machine* const machine = Machine::of(path);
  if (machine == nullptr) {
    return REAL(access)(path, mode);
  }
  struct stat status{};
  return answer(machine->status(path, status));
}
int fstatfs(int descriptor, struct statfs* status) noexcept {
  if (Machine::of(descriptor) == nullptr) {
    return real("fstatfs", static_cast<int (*)(int, struct statfs*)>(nullptr))(descriptor, status);
  }
  std::memset(status, 0, sizeof(*status));
  status->f_type = 0xEF53;
  status->f_bsize = 4096;
  return 0;
}
int statfs(const char* path, struct statfs* status) noexcept {
  if (Machine::of(path) == nullptr) {
    return real("statfs", static_cast<int (*)(const char*, struct statfs*)>(nullptr))(path, status);
  }
  std::memset(status, 0, sizeof(*status));
  status->f_type = 0xEF53;
  status->f_bsize = 4096;
  return 0;
}
int statvfs(const char* path, struct statvfs* status) noexcept {
  if (Machine::of(path) == nullptr) {
    return real("statvfs", static_cast<int (*)(const char*, struct statvfs*)>(nullptr))(path,
                                                                                        status);
  }
  std::memset(status, 0, sizeof(*status));
  status->f_bsize = status->f_frsize = 4096;
  status->f_bavail = status->f_bfree = std::int64_t{1} << 40;
  return 0;
}
ssize_t getxattr(const char* path, const char* name, void* value, size_t size) noexcept {
  return Machine::of(path) == nullptr ? REAL(getxattr)(path, name, value, size)
                                      : answer(ssize_t{-ENOTSUP});
}
ssize_t fgetxattr(int descriptor, const char* name, void* value, size_t size) noexcept {
  return Machine::of(descriptor) == nullptr ? REAL(fgetxattr)(descriptor, name, value, size)
                                            : answer(ssize_t{-ENOTSUP});
}
int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return Machine::of(descriptor) == nullptr ? REAL(ioctl)(descriptor, request, argument)
                                            : answer(-ENOTTY);
}
int fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  Machine* const machine = Machine::of(descriptor);
  if (machine == nullptr) {
    return REAL(fcntl)(descriptor, command, argument);
  }
  switch (command) {
    case F_OFD_SETLK:
      return answer(machine->lock(descriptor, static_cast<const struct flock*>(argument)->l_type));
    case F_DUPFD_CLOEXEC:
      return answer(machine->duplicate(descriptor));
    case F_GETFL:
      return answer(machine->flags(descriptor));
    case F_SETFL:
      return answer(machine->set_flags(
          descriptor, static_cast<int>(reinterpret_cast<std::intptr_t>(argument))));
    default:
      return answer(-EINVAL);
  }
}
int lock_file(int descriptor, int operation) noexcept __asm__("flock");
int lock_file(int descriptor, int operation) noexcept {
  return Machine::of(descriptor) == nullptr
             ? real("flock", static_cast<int (*)(int, int)>(nullptr))(descriptor, operation)
             : 0;
}

int rename(const char* from, const char* to) noexcept {
  Machine* const machine = Machine::of(from);
  return machine == nullptr ? REAL(rename)(from, to) : answer(machine->rename(from, to, 0));
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  Machine* const machine = Machine::of(from_folder);
  return machine == nullptr ? REAL(renameat2)(from_folder, from, to_folder, to, flags)
                            : answer(machine->rename_in(from_folder, from, to_folder, to, flags));
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  Machine* const machine = Machine::of(from_folder);
  return machine == nullptr ? REAL(linkat)(from_folder, from, to_folder, to, flags)
                            : answer(machine->link_in(from_folder, from, to_folder, to));
}
int mkdirat(int folder, const char* name, mode_t mode) noexcept {
  Machine* const machine = Machine::of(folder);
  return machine == nullptr ? REAL(mkdirat)(folder, name, mode)
                            : answer(machine->make_folder_in(folder, name));
}
int link(const char* from, const char* to) noexcept {
  Machine* const machine = Machine::of(from);
  return machine == nullptr ? REAL(link)(from, to) : answer(machine->link(from, to));
}
int unlink(const char* path) noexcept {
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(unlink)(path) : answer(machine->unlink(path));
}
int mkdir(const char* path, mode_t mode) noexcept {
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(mkdir)(path, mode) : answer(machine->make_folder(path));
}
int rmdir(const char* path) noexcept {
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(rmdir)(path) : answer(machine->remove_folder(path));
}
int remove(const char* path) noexcept {
  Machine* const machine = Machine::of(path);
  if (machine == nullptr) {
    return REAL(remove)(path);
  }
  const int result = machine->unlink(path);
  return answer(result == -EISDIR ? machine->remove_folder(path) : result);
}

int openat(int folder, const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, unsigned));
  va_end(rest);
  Machine* const machine = folder == AT_FDCWD ? Machine::of(name) : Machine::of(folder);
  return machine == nullptr ? REAL(openat)(folder, name, flags, mode)
                            : answer(folder == AT_FDCWD ? machine->open(name, flags)
                                                        : machine->open_in(folder, name, flags));
}
int unlinkat(int folder, const char* name, int flags) noexcept {
  Machine* const machine = folder == AT_FDCWD ? Machine::of(name) : Machine::of(folder);
  if (machine == nullptr) {
    return REAL(unlinkat)(folder, name, flags);
  }
  if (folder != AT_FDCWD) {
    return answer(machine->unlink_in(folder, name, (flags & AT_REMOVEDIR) != 0));
  }
  return answer((flags & AT_REMOVEDIR) != 0 ? machine->remove_folder(name) : machine->unlink(name));
}
static DIR* open_list(std::optional<std::vector<std::string>> names) {
  if (!names) {
    errno = ENOENT;
    return nullptr;
  }
  auto* const folder = new Folder{.names = std::move(*names)};
  open_folders().insert(folder);
  return reinterpret_cast<DIR*>(folder);
}
DIR* fdopendir(int descriptor) {
  Machine* const machine = Machine::of(descriptor);
  if (machine == nullptr) {
    return REAL(fdopendir)(descriptor);
  }
  auto names = machine->names_in(descriptor);
  (void)machine->close(descriptor);
  return open_list(std::move(names));
}
DIR* opendir(const char* path) {
  Machine* const machine = Machine::of(path);
  return machine == nullptr ? REAL(opendir)(path) : open_list(machine->names(path));
}
struct dirent* readdir(DIR* opened) {
  if (!open_folders().contains(opened)) {
    return REAL(readdir)(opened);
  }
  auto& folder = *reinterpret_cast<Folder*>(opened);
  if (folder.next == folder.names.size()) {
    return nullptr;
  }
  const std::string& name = folder.names[folder.next++];
  folder.entry = {};
  folder.entry.d_type = DT_UNKNOWN;
  name.copy(folder.entry.d_name, sizeof(folder.entry.d_name) - 1);
  return &folder.entry;
}
int closedir(DIR* opened) {
  if (open_folders().erase(opened) == 0) {
    return REAL(closedir)(opened);
  }
  delete reinterpret_cast<Folder*>(opened);
  return 0;
}

// Shared memory, and other processes.

int memfd_create(const char* name, unsigned flags) noexcept {
  Machine* const machine = Machine::current();
  if (machine == nullptr) {
    return REAL(memfd_create)(name, flags);
  }
  return answer(machine->system().has_memfd ? machine->memory().make() : -ENOSYS);
}
void* mmap(void* address, size_t bytes, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  Machine* const machine = Machine::of(descriptor);
  return machine == nullptr ? REAL(mmap)(address, bytes, protection, flags, descriptor, offset)
                            : machine->memory().map(descriptor, bytes, protection);
}
int munmap(void* address, size_t bytes) noexcept {
  Machine* const machine = Machine::current();
  return machine != nullptr && machine->memory().unmap(address, bytes)
             ? 0
             : REAL(munmap)(address, bytes);
}
int madvise(void* address, size_t bytes, int advice) noexcept {
  Machine* const machine = Machine::current();
  if (machine != nullptr && advice == MADV_HUGEPAGE) {
    return 0;  // most of them would be cleared for a few bytes
  }
  if (machine == nullptr || !machine->memory().is_shared(address)) {
    return REAL(madvise)(address, bytes, advice);
  }
  return answer(advice == MADV_POPULATE_WRITE ? *machine->memory().reserve(address, bytes) : 0);
}
ssize_t process_vm_readv(pid_t process, const iovec* to, unsigned long to_count, const iovec* from,
                         unsigned long from_count, unsigned long flags) noexcept {
  Machine* const machine = Machine::current();
  if (machine == nullptr) {
    return REAL(process_vm_readv)(process, to, to_count, from, from_count, flags);
  }
  std::vector<std::span<std::byte>> targets;
  for (const auto& part : std::span{to, to_count}) {
    targets.push_back(bytes_of(part.iov_base, part.iov_len));
  }
  std::vector<std::span<const std::byte>> sources;
  for (const auto& part : std::span{from, from_count}) {
    sources.emplace_back(static_cast<const std::byte*>(part.iov_base), part.iov_len);
  }
  return answer(machine->pull(process, targets, sources));
}
// Under another name, because the C library's header says that nothing is read there.
int look_at(pollfd* descriptors, nfds_t count, int longest) __asm__("poll");
int look_at(pollfd* descriptors, nfds_t count, int longest) {
  Machine* const machine = count == 1 ? Machine::of(descriptors->fd) : nullptr;
  if (machine == nullptr) {
    return real("poll", static_cast<int (*)(pollfd*, nfds_t, int)>(nullptr))(descriptors, count,
                                                                             longest);
  }
  const bool is_ready = machine->has_ended(descriptors->fd);
  descriptors->revents = static_cast<short>(is_ready ? POLLIN : 0);
  return is_ready ? 1 : 0;
}
int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* set) noexcept {
  Machine* const machine = Machine::current();
  if (machine == nullptr) {
    return REAL(sched_getaffinity)(process, bytes, set);
  }
  CPU_ZERO_S(bytes, set);
  const int number = (process == 0 ? machine->process_id() : process) - machine->first_id();
  CPU_SET_S(machine->system().has_processors ? static_cast<std::size_t>(number) : 0, bytes, set);
  return 0;
}

pid_t getpid() noexcept {
  Machine* const machine = Machine::current();
  return machine == nullptr ? static_cast<pid_t>(REAL(syscall)(SYS_getpid)) : machine->process_id();
}
int kill(pid_t process, int signal) noexcept {
  Machine* const machine = Machine::current();
  return machine == nullptr || signal != 0 ? REAL(kill)(process, signal)
                                           : answer(machine->signal(process));
}

// Simulated threads share the signals of this one, which is to be ended by them.
int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  if (World::current() == nullptr) {
    return REAL(pthread_sigmask)(how, set, before);
  }
  if (before != nullptr) {
    sigemptyset(before);
  }
  return 0;
}

int gethostname(char* name, size_t length) noexcept {
  if (Machine::current() == nullptr) {
    return REAL(gethostname)(name, length);
  }
  name[std::string_view{"sim"}.copy(name, length - 1)] = 0;
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  World* const world = World::current();
  if (world == nullptr) {
    return REAL(clock_gettime)(clock, time);
  }
  *time = as_timespec(clock == CLOCK_THREAD_CPUTIME_ID
                          ? world->computed()
                          : world->now() + (clock == CLOCK_REALTIME ? started : 0));
  return 0;
}
int nanosleep(const timespec* time, timespec* left) {
  World* const world = World::current();
  if (world == nullptr) {
    return REAL(nanosleep)(time, left);
  }
  world->sleep(in_nanoseconds(*time));
  return 0;
}
int sched_yield() noexcept {
  World* const world = World::current();
  if (world == nullptr) {
    return REAL(sched_yield)();
  }
  world->spend(simulation::microsecond);
  return 0;
}

long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  long argument[6];
  for (long& one : argument) {
    one = va_arg(rest, long);
  }
  va_end(rest);
  Machine* const machine = Machine::current();
  if (machine != nullptr && number == SYS_futex) {
    const auto* const word = reinterpret_cast<const std::uint32_t*>(argument[0]);
    World& world = machine->world();
    if ((argument[1] & FUTEX_CMD_MASK) == FUTEX_WAKE) {
      world.wake(machine->memory().place(word), static_cast<int>(argument[2]));
      world.spend(300);
      return 0;
    }
    const auto* const limit = reinterpret_cast<const timespec*>(argument[3]);
    return answer(
        futex_wait(*machine, {{word, static_cast<std::uint32_t>(argument[2])}},
                   limit == nullptr ? simulation::never : world.now() + in_nanoseconds(*limit)));
  }
  if (machine != nullptr && number == SYS_futex_waitv) {
    const std::span waiters{reinterpret_cast<const futex_waitv*>(argument[0]),
                            static_cast<std::size_t>(argument[1])};
    std::vector<std::pair<const std::uint32_t*, std::uint32_t>> words;
    for (const auto& waiter : waiters) {
      words.emplace_back(reinterpret_cast<const std::uint32_t*>(waiter.uaddr),
                         static_cast<std::uint32_t>(waiter.val));
    }
    return answer(futex_wait(*machine, words,
                             in_nanoseconds(*reinterpret_cast<const timespec*>(argument[3]))));
  }
  if (machine != nullptr && number == SYS_pidfd_open) {
    return answer(machine->open_process(static_cast<int>(argument[0])));
  }
  return REAL(syscall)(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                       argument[5]);
}

// Accepts the slack of timers, which the simulated clock has not.
int prctl(int option, ...) noexcept {
  va_list rest;
  va_start(rest, option);
  std::array<unsigned long, 4> argument{};
  for (auto& one : argument) {
    one = va_arg(rest, unsigned long);
  }
  va_end(rest);
  return World::current() != nullptr
             ? 0
             : REAL(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
}

// Threads.

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  World* const world = World::current();
  if (world == nullptr) {
    return REAL(pthread_create)(thread, attributes, body, argument);
  }
  *thread = world->add_thread([body, argument] { body(argument); });
  return 0;
}
int pthread_join(pthread_t thread, void** result) {
  World* const world = World::current();
  if (world == nullptr) {
    return REAL(pthread_join)(thread, result);
  }
  world->join(thread);
  return 0;
}
pthread_t pthread_self() noexcept {
  World* const world = World::current();
  return world == nullptr ? REAL(pthread_self)() : world->thread();
}
int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  return World::current() == nullptr ? REAL(pthread_setname_np)(thread, name) : 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  World* const world = World::current();
  if (world == nullptr) {
    return REAL(pthread_mutex_lock)(mutex);
  }
  while (pthread_mutex_trylock(mutex) != 0) {
    world->spend(simulation::microsecond);
  }
  return 0;
}

static int wait_at(World& world, pthread_cond_t* condition, pthread_mutex_t* mutex,
                   Nanoseconds until) {
  pthread_mutex_unlock(mutex);
  const bool was_woken = world.sleep_at({condition}, until);
  pthread_mutex_lock(mutex);
  return was_woken ? 0 : ETIMEDOUT;
}
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  World* const world = World::current();
  return world == nullptr ? REAL(pthread_cond_wait)(condition, mutex)
                          : wait_at(*world, condition, mutex, simulation::never);
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  World* const world = World::current();
  return world == nullptr
             ? REAL(pthread_cond_clockwait)(condition, mutex, clock, until)
             : wait_at(*world, condition, mutex,
                       in_nanoseconds(*until) - (clock == CLOCK_REALTIME ? started : 0));
}
int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  World* const world = World::current();
  if (world == nullptr) {
    return REAL(pthread_cond_signal)(condition);
  }
  world->wake(condition, 1);
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  World* const world = World::current();
  if (world == nullptr) {
    return REAL(pthread_cond_broadcast)(condition);
  }
  world->wake(condition, 1 << 20);
  return 0;
}

}  // extern "C"
