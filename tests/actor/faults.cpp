#include "faults.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace actor {
namespace {

struct Book {
  std::mutex mutex;
  std::deque<Fault> faults;  // guarded by mutex
  std::string folder;        // that files must lie in
};

Book& book() {
  static Book kept;
  return kept;
}

std::atomic<bool> has_faults{false};  // spares all other calls the look below

std::string path_of(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return length <= 0 ? std::string{} : std::string(path.data(), static_cast<std::size_t>(length));
}

constexpr int slow = INT_MIN;  // instead of an errno: the call takes so much longer
constexpr std::chrono::milliseconds slowness{50};

/// The errno that this call shall fail with, or 0.
int fails(std::string_view call, const std::string& path) {
  Book& kept = book();
  std::unique_lock lock{kept.mutex};
  for (auto& fault : kept.faults) {
    const bool inside = path.starts_with(kept.folder) || !path.starts_with('/');
    if (fault.call != call || !inside || path.find(fault.path) == std::string::npos) {
      continue;
    }
    if (fault.after > 0) {
      --fault.after;
    } else if (fault.times != 0) {
      fault.times -= fault.times > 0 ? 1 : 0;
      if (fault.error == slow) {
        lock.unlock();
        std::this_thread::sleep_for(slowness);
        return 0;
      }
      if (fault.error < 0) {
        ::kill(::getpid(), -fault.error);
        return 0;
      }
      return fault.error;
    }
  }
  return 0;
}

bool refused(std::string_view call, const std::string& path) {
  const int error = fails(call, path);
  if (error != 0) {
    errno = error;
  }
  return error != 0;
}

bool refused(std::string_view call, int descriptor) {
  return has_faults && refused(call, path_of(descriptor));
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void add_fault(const Fault& fault) {
  Book& kept = book();
  const std::scoped_lock lock{kept.mutex};
  std::array<char, PATH_MAX> folder{};
  kept.folder = ::getcwd(folder.data(), folder.size()) != nullptr ? folder.data() : "/";
  kept.faults.push_back(fault);
  has_faults = true;
}

void remove_faults() {
  Book& kept = book();
  const std::scoped_lock lock{kept.mutex};
  kept.faults.clear();
  has_faults = false;
}

int errno_of(const std::string& name) {
  static const std::map<std::string, int> known{{"ENOSPC", ENOSPC},
                                                {"EIO", EIO},
                                                {"EDQUOT", EDQUOT},
                                                {"EROFS", EROFS},
                                                {"EACCES", EACCES},
                                                {"KILL", -SIGKILL},
                                                {"STOP", -SIGSTOP},  // what befalls the process
                                                                     // instead
                                                {"SLOW", slow}};
  const auto found = known.find(name);
  if (found == known.end()) {
    throw std::runtime_error{"there is no errno " + name + " here"};
  }
  return found->second;
}

}  // namespace actor

// The linker takes these instead of the C library's, for this program and for all libraries it
// loads.
using actor::next;
using actor::refused;

extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  static auto* const real = next<decltype(pwrite)>("pwrite");
  return refused("pwrite", descriptor) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  static auto* const real = next<decltype(pwrite64)>("pwrite64");
  return refused("pwrite", descriptor) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  static auto* const real = next<decltype(pwritev)>("pwritev");
  return refused("pwrite", descriptor) ? -1 : real(descriptor, parts, count, offset);
}

ssize_t pwritev64(int descriptor, const iovec* parts, int count, off64_t offset) {
  static auto* const real = next<decltype(pwritev64)>("pwritev64");
  return refused("pwrite", descriptor) ? -1 : real(descriptor, parts, count, offset);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const real = next<decltype(write)>("write");
  return refused("write", descriptor) ? -1 : real(descriptor, bytes, count);
}

int fsync(int descriptor) {
  static auto* const real = next<decltype(fsync)>("fsync");
  return refused("sync", descriptor) ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  static auto* const real = next<decltype(fdatasync)>("fdatasync");
  return refused("sync", descriptor) ? -1 : real(descriptor);
}

int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  static auto* const real = next<decltype(fallocate)>("fallocate");
  return refused("fallocate", descriptor) ? -1 : real(descriptor, mode, offset, bytes);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t bytes) {
  static auto* const real = next<decltype(fallocate64)>("fallocate64");
  return refused("fallocate", descriptor) ? -1 : real(descriptor, mode, offset, bytes);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return actor::has_faults && refused("rename", std::string{to}) ? -1 : real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return actor::has_faults && refused("rename", std::string{to})
             ? -1
             : real(from_folder, from, to_folder, to, flags);
}

}  // extern "C"
