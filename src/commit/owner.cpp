// SPDX-License-Identifier: BSD-3-Clause
#include "commit/owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/failure.h"
#include "base/folder_targets.h"
#include "base/log.h"
#include "base/small_files.h"
#include "base/write_plainly.h"
#include "commit/beats.h"
#include "commit/commit.h"
#include "commit/rename_target.h"

namespace iocomp::commit {
namespace {

constexpr std::string_view lock_name = "lock";
// What a lock says before the name of the job.
constexpr std::string_view server_mark = "server of ";

std::string prefix_of(const std::string& path) {
  return path.substr(0, path.size() - name_in_folder(path).size());
}

std::string lock_of(const std::string& path) {
  return prefix_of(path) + '.' + name_in_folder(path) + std::string{temporary_mark} +
         std::string{lock_name};
}

struct flock whole_file() {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

// 0 or errno.
int lock(const Descriptor& file) {
  auto whole = whole_file();
  return ::fcntl(file.raw(), F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

// Of what `lock` returns.
bool is_held(int error) { return error == EAGAIN || error == EACCES; }

// What stands before and behind the mark in the name of something that iocomp made for a file.
std::pair<std::string, std::string> parts(const std::string& name) {
  const auto mark = name.rfind(temporary_mark);
  return name.starts_with('.') && mark != std::string::npos && mark >= 2
             ? std::pair{name.substr(1, mark - 1), name.substr(mark + temporary_mark.size())}
             : std::pair<std::string, std::string>{};
}

// Whoever ends removes the file, perhaps between our open and our lock.
bool has_its_name(const Descriptor& file, const std::string& path) {
  struct stat mine{};
  struct stat named{};
  return ::fstat(file.raw(), &mine) == 0 && ::stat(path.c_str(), &named) == 0 &&
         mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

std::string server_of(const std::string& job) { return std::string{server_mark} + job; }

std::string owner_in(const std::string& lock) {
  const std::string text = read_file(lock).value_or("");
  return text.substr(0, text.find('\n'));
}

std::string job_in(const std::string& lock) {
  const std::string owner = owner_in(lock);
  return owner.starts_with(server_mark) ? owner.substr(server_mark.size()) : owner;
}

Error is_owned(const std::string& path, const std::string& lock) {
  const std::string job = job_in(lock);
  return Error{ErrorCode::target_exists, path + " is being written" +
                                             (job.empty() ? "" : " by the job " + job) +
                                             "; wait until that is over, or choose another path"};
}

}  // namespace

Owner::Owner(const std::string& path, const std::string& job, Claim claim, BeatPace pace)
    : path_{lock_of(path)}, me_{claim == Claim::of_server ? server_of(job) : job} {
  int error = 0;
  bool is_new = false;
  bool is_left = false;
  do {
    is_new = open_file(path);
    error = lock(file_);
    is_left = claim == Claim::from_server && owner_in(path_) == server_of(job);
    if (is_held(error) && !is_left) {
      throw is_owned(path, path_);
    }
    if (is_held(error)) {
      ::unlink(path_.c_str());  // the server is stopped: a lock of this process takes its place
    }
  } while (!has_its_name(file_, path_));
  if (error != 0 && !is_new && !is_left) {
    take_over(path, pace);
  }
  write_me();
  if (error != 0) {  // there are no locks
    beats_ = std::make_unique<Beats>(path_, me_, pace);
  }
}

// @return whether it was not there.
bool Owner::open_file(const std::string& path) {
  constexpr int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
  while (true) {
    file_ = Descriptor{::open(path_.c_str(), flags | O_CREAT | O_EXCL, 0666)};
    if (file_.is_open()) {
      return true;
    }
    if (errno != EEXIST) {  // also where the folder is gone
      throw failure("create a file beside", path, errno);
    }
    file_ = Descriptor{::open(path_.c_str(), flags)};
    if (file_.is_open()) {
      return false;
    }
    if (errno != ENOENT) {  // else its owner has ended in between
      throw failure("open a file beside", path, errno);
    }
  }
}

// Where there are no locks, from one that ended without removing the file. Others may try the same.
void Owner::take_over(const std::string& path, BeatPace pace) {
  log::warning("the file system of " + path + " has no locks: waiting up to " +
               std::to_string((pace.silence + pace.interval).count() / 1000) +
               " s to see whether another job still writes it");
  if (beats(path_, pace)) {
    throw is_owned(path, path_);
  }
  write_me();
  std::this_thread::sleep_for(pace.interval);
  if (owner_in(path_) != me_) {
    throw is_owned(path, path_);
  }
}

// For people, where there are locks: where it fails, they are told less.
void Owner::write_me() const {
  (void)!::ftruncate(file_.raw(), 0);
  (void)outcome_of([&] { write_plainly(file_, 0, std::as_bytes(std::span{me_}), path_); });
}

Owner::~Owner() {
  // One that slept may have lost it. Of its own name a full disk may have kept a part.
  const bool is_mine = beats_ ? me_.starts_with(owner_in(path_)) : has_its_name(file_, path_);
  beats_.reset();
  if (file_.is_open() && is_mine) {
    ::unlink(path_.c_str());
  }
}

std::string belongs_to(const std::string& name) {
  const auto [target, ending] = parts(name);
  return ending == lock_name ? std::string{} : target;
}

std::string is_lock_of(const std::string& name) {
  const auto [target, ending] = parts(name);
  return ending == lock_name ? target : std::string{};
}

Holder holder_of(const std::string& path) {
  const std::string lock = lock_of(path);
  const Descriptor file{::open(lock.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  if (!file.is_open()) {
    return {errno == ENOENT ? Holder::State::nobody : Holder::State::unknown, {}};
  }
  auto found = whole_file();
  const bool is_told = ::fcntl(file.raw(), F_OFD_GETLK, &found) == 0;
  return {!is_told                  ? Holder::State::unknown
          : found.l_type == F_UNLCK ? Holder::State::ended
                                    : Holder::State::alive,
          job_in(lock)};
}

std::vector<std::string> temporaries_of(const std::string& path) {
  const std::string plain = name_in_folder(path);
  std::vector<std::string> found;
  for (const auto& name : names_in(folder_of(path))) {
    const std::string target = belongs_to(name);
    if (!target.empty() && (target == plain || step_in_name(target, plain))) {
      found.push_back(prefix_of(path) + name);
    }
  }
  return found;
}

namespace {

// Of files that a job was about to remove, or to name, when it ended.
void remove_lonely_manifests(const std::string& path, const std::function<void()>& may_appear) {
  constexpr std::string_view ending = ".json";
  const std::string plain = name_in_folder(path);
  for (const auto& name : names_in(folder_of(path))) {
    if (!name.ends_with(ending)) {
      continue;
    }
    const std::string target = name.substr(0, name.size() - ending.size());
    const bool is_ours = target == plain || step_in_name(target, plain);
    bool is_lonely = false;  // nor where the folder is gone for a moment
    (void)outcome_of([&] {
      if (is_ours && !is_in_folder(prefix_of(path) + target)) {
        sync_folder_of(path);  // a power loss must not bring the target back without it
        is_lonely = true;
      }
    });
    if (!is_lonely) {
      continue;
    }
    const std::string manifest = prefix_of(path) + name;
    if (read_file(manifest).value_or("").find("\"iocomp_manifest\"") != std::string::npos) {
      check_may_appear(may_appear);
      log::info(manifest + " was left by a job that ended early: removed");
      ::unlink(manifest.c_str());
    }
  }
}

}  // namespace

void clear_away(const std::string& path, const Owner& /*owner*/,
                const std::function<void()>& may_appear) {
  for (const auto& temporary : temporaries_of(path)) {
    check_may_appear(may_appear);
    if (temporary.ends_with(set_aside_ending)) {
      put_back(temporary, prefix_of(path) + belongs_to(name_in_folder(temporary)));
    } else {
      log::info(temporary + " was left by a job that ended early: removed");
      remove_begun(temporary, may_appear);
    }
  }
  remove_lonely_manifests(path, may_appear);
}

}  // namespace iocomp::commit
