#include "commit/owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

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

std::string lock_of(const std::string& path) {
  const std::string name = name_in_folder(path);
  return path.substr(0, path.size() - name.size()) + '.' + name + std::string{temporary_mark} +
         std::string{lock_name};
}

// 0 or errno.
int lock(const Descriptor& file) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file.raw(), F_OFD_SETLK, &whole) == 0 ? 0 : errno;
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
  const auto mark = name.rfind(temporary_mark);
  const bool is_one = name.starts_with('.') && mark != std::string::npos && mark >= 2 &&
                      name.substr(mark + temporary_mark.size()) != lock_name;
  return is_one ? name.substr(1, mark - 1) : std::string{};
}

void clear_away(const std::string& path, const Owner& owner) {
  const std::string plain = name_in_folder(path);
  const std::string folder = path.substr(0, path.size() - plain.size());
  for (const auto& name : names_in(folder_of(path))) {
    const std::string target = belongs_to(name);
    if (target.empty() || (target != plain && !step_in_name(target, plain))) {
      continue;
    }
    if (!owner.is_known()) {
      log::warning(folder + name +
                   " was begun by another job, which may still write it: the file "
                   "system has no locks; remove it if that job has ended");
    } else if (name.ends_with(set_aside_ending)) {
      put_back(folder + name, folder + target);
    } else {
      log::info(folder + name + " was left by a job that ended early: removed");
      remove_begun(folder + name);
    }
  }
}

}  // namespace iocomp::commit
