// SPDX-License-Identifier: BSD-3-Clause
#include "faults.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace actor {
namespace {

struct Book {
  std::mutex mutex;
  std::deque<Fault> faults;  // guarded by mutex
  std::string folder;        // that files must lie in
  // Whoever has a file open is told once that an fsync of it has failed, as Linux does.
  std::map<std::string, std::set<int>> told;  // descriptors by path; guarded by mutex
};

Book& book() {
  static Book kept;
  return kept;
}

std::atomic<bool> has_faults{false};  // spares all other calls the look below
std::atomic<double> clock_offset{0};

constexpr int slow = INT_MIN;  // instead of an errno: the call takes so much longer
constexpr std::chrono::milliseconds slowness{50};
constexpr int half = INT_MIN + 1;  // instead of an errno: of the bytes half are written
constexpr int planted_link = INT_MIN + 2;
constexpr int planted_pipe = INT_MIN + 3;
constexpr int swapped_link = INT_MIN + 4;

bool is_planted(int what) { return what >= planted_link && what <= swapped_link; }

/// Does what another user could do who may write into the folder, between a look at a name and its
/// use.
void plant(int what, const std::string& path, const std::string& to) {
  constexpr mode_t for_everybody = 0666;
  if (what == planted_pipe) {
    ::mkfifo(path.c_str(), for_everybody);
    return;
  }
  if (what == swapped_link) {
    ::syscall(SYS_unlink, path.c_str());  // not a call of this program, which may fail
  }
  (void)!::symlink(to.c_str(), path.c_str());
}

void leave_sign(const std::string& path) {
  if (!path.empty()) {  // not by a call of this program, which may fail
    ::syscall(SYS_mknodat, AT_FDCWD, path.c_str(), S_IFREG | S_IRUSR, 0);
  }
}

/// A fault whose turn has come strikes a call. Sleeps and signals come after the lock is gone.
Verdict strike(int error, std::size_t bytes, std::unique_lock<std::mutex>& lock) {
  if (error == half) {
    return {.allowed = std::max<std::size_t>(bytes / 2, 1)};
  }
  if (error == slow) {
    lock.unlock();
    std::this_thread::sleep_for(slowness);
    return {.allowed = bytes};
  }
  if (error < 0) {
    ::kill(::getpid(), -error);
    return {.allowed = bytes};
  }
  return {.error = error};
}

}  // namespace

std::string path_of(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return length <= 0 ? std::string{} : std::string(path.data(), static_cast<std::size_t>(length));
}

Verdict verdict_on(std::string_view call, const std::string& path, std::size_t bytes) {
  if (!has_faults) {
    return {.allowed = bytes};
  }
  Book& kept = book();
  std::unique_lock lock{kept.mutex};
  for (auto& fault : kept.faults) {
    const bool inside = path.starts_with(kept.folder) || !path.starts_with('/');
    // A lock holds no data: it is struck only by a fault that names it.
    const bool is_spared = path.ends_with("-lock") && fault.path.find("lock") == std::string::npos;
    if (fault.call != call || !inside || is_spared || path.find(fault.path) == std::string::npos) {
      continue;
    }
    if (fault.room > 0) {
      const auto allowed = std::min(static_cast<std::size_t>(fault.room), bytes);
      fault.room -= static_cast<std::int64_t>(allowed);
      return {.allowed = allowed};
    }
    if (fault.after > 0) {
      --fault.after;
    } else if (fault.times != 0) {
      fault.times -= fault.times > 0 ? 1 : 0;
      leave_sign(fault.sign);
      if (is_planted(fault.error)) {
        plant(fault.error, path, fault.to);
        return {.allowed = bytes};
      }
      return strike(fault.error, bytes, lock);
    }
  }
  return {.allowed = bytes};
}

Verdict verdict_on(std::string_view call, int descriptor, std::size_t bytes) {
  if (!has_faults) {
    return {.allowed = bytes};
  }
  const std::string path = path_of(descriptor);
  if (!path.starts_with('/')) {  // a pipe, a socket
    return {.allowed = bytes};
  }
  Verdict verdict = verdict_on(call, path, bytes);
  if (call == "sync") {
    Book& kept = book();
    const std::scoped_lock lock{kept.mutex};
    struct stat status{};
    const bool is_file =
        ::fstatat(descriptor, "", &status, AT_EMPTY_PATH) == 0 && S_ISREG(status.st_mode);
    if (is_file && verdict.error != 0) {
      kept.told[path].insert(descriptor);
    } else if (kept.told.contains(path) && kept.told[path].insert(descriptor).second) {
      verdict.error = EIO;
    }
  }
  // Without the page cache whole blocks are written.
  constexpr std::size_t block = 4096;
  const bool is_short = verdict.error == 0 && verdict.allowed < bytes;
  if (is_short && (::fcntl(descriptor, F_GETFL) & O_DIRECT) != 0) {
    verdict.allowed = verdict.allowed < block ? bytes : verdict.allowed / block * block;
  }
  return verdict;
}

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
  kept.told.clear();
  has_faults = false;
  clock_offset = 0;
}

int errno_of(const std::string& name) {
  static const std::map<std::string, int> known{
      {"ENOSPC", ENOSPC},    {"EIO", EIO},       {"EDQUOT", EDQUOT},     {"EROFS", EROFS},
      {"EACCES", EACCES},    {"EMFILE", EMFILE}, {"KILL", -SIGKILL},  // what befalls the process
      {"STOP", -SIGSTOP},                                             // instead
      {"SHORT", half},       {"SLOW", slow},     {"LINK", planted_link}, {"PIPE", planted_pipe},
      {"SWAP", swapped_link}};
  const auto found = known.find(name);
  if (found == known.end()) {
    throw std::runtime_error{"there is no errno " + name + " here"};
  }
  return found->second;
}

void move_clock(double seconds) { clock_offset = seconds; }

double clock_offset_seconds() { return clock_offset; }

}  // namespace actor
