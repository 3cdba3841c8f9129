#include "commit/owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/failure.h"
#include "base/folder_targets.h"
#include "base/log.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/rename_target.h"

namespace iocomp::commit {
namespace {

constexpr std::string_view lock_name = "lock";

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

Error is_owned(const std::string& path, const std::string& lock) {
  const std::string owner = read_file(lock).value_or("");
  return Error{ErrorCode::target_exists, path + " is being written" +
                                             (owner.empty() ? "" : " by the job " + owner) +
                                             "; wait until that is over, or choose another path"};
}

}  // namespace

Owner::Owner(const std::string& path, const std::string& job, Claim claim) : path_{lock_of(path)} {
  while (true) {
    file_ = Descriptor{::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666)};
    if (!file_.is_open()) {
      throw failure("create a file beside", path, errno);
    }
    const int error = lock(file_);
    if ((error == EAGAIN || error == EACCES) && claim == Claim::alone) {
      throw is_owned(path, path_);
    }
    if (has_its_name(file_, path_)) {
      is_locked_ = error == 0;
      break;
    }
  }
  // For people alone: where it fails, they are told less.
  (void)!::ftruncate(file_.raw(), 0);
  (void)!::write(file_.raw(), job.data(), job.size());
}

Owner::~Owner() {
  if (file_.is_open()) {
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
          read_file(lock).value_or("")};
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

void clear_away(const std::string& path, const Owner& owner) {
  for (const auto& temporary : temporaries_of(path)) {
    if (!owner.is_known()) {
      log::warning(temporary +
                   " was begun by another job, which may still write it: the file "
                   "system has no locks; remove it if that job has ended");
    } else if (temporary.ends_with(set_aside_ending)) {
      put_back(temporary, prefix_of(path) + belongs_to(name_in_folder(temporary)));
    } else {
      log::info(temporary + " was left by a job that ended early: removed");
      remove_begun(temporary);
    }
  }
}

}  // namespace iocomp::commit
