// SPDX-License-Identifier: BSD-3-Clause
#include "commit/owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/log.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "base/small_files.h"
#include "commit/beats.h"
#include "commit/commit.h"
#include "commit/rename_target.h"

namespace iocomp::commit {
namespace {

// Stand around the name of the job in a lock: of a server, of a set of files.
constexpr std::string_view server_mark = "server of ";
constexpr std::string_view set_mark = " (a file for each step)";
constexpr std::int64_t longest_lock_bytes = 4096;

Path lock_of(const Path& path) {
  return path.beside('.' + path.name() + std::string{temporary_mark} + std::string{lock_name});
}

struct flock whole_file() {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

// Takes the lock. @return 0 or errno.
int lock(const Descriptor& file) {
  auto whole = whole_file();
  return ::fcntl(file.raw(), F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

// True if `lock` failed because another process holds the lock.
bool is_held(int error) { return error == EAGAIN || error == EACCES; }

// True if the open file still has its name. An owner that ends removes it, perhaps between our open
// and our lock.
bool has_its_name(const Descriptor& file, const Path& path) {
  struct stat mine{};
  std::optional<struct stat> named;
  (void)outcome_of([&] { named = path.folder().find(path.name()); });
  return named && ::fstat(file.raw(), &mine) == 0 && mine.st_ino == named->st_ino &&
         mine.st_dev == named->st_dev;
}

std::string server_of(const std::string& job) { return std::string{server_mark} + job; }

std::string owner_in(const Path& lock) {
  const std::string text = read_file(lock, longest_lock_bytes).value_or("");
  return text.substr(0, text.find('\n'));
}

std::string owner_text(const std::string& job, bool is_server, Owner::Files files) {
  std::string text = is_server ? server_of(job) : job;
  return files == Owner::Files::set ? text.append(set_mark) : text;
}

std::string job_of(std::string owner) {
  if (owner.starts_with(server_mark)) {
    owner.erase(0, server_mark.size());
  }
  if (owner.ends_with(set_mark)) {
    owner.resize(owner.size() - set_mark.size());
  }
  return owner;
}

std::string job_in(const Path& lock) { return job_of(owner_in(lock)); }

Error is_owned(const Path& path, const Path& lock, const std::string& me) {
  const std::string job = job_in(lock);
  const std::string begin = path.text() + " is being written";
  return Error{
      ErrorCode::target_exists,
      !job.empty() && job == job_of(me)
          ? begin +
                " by this job already, under another name, by other ranks or by a server that "
                "has stopped; choose another path"
          : begin + (job.empty() ? "" : " by the job " + job) +
                "; wait until that is over, or choose another path"};
}

}  // namespace

Owner::Owner(const Path& path, const std::string& job, Claim claim, Files files, BeatPace pace)
    : path_{lock_of(path)}, me_{owner_text(job, claim == Claim::of_server, files)}, files_{files} {
  int error = 0;
  bool is_new = false;
  bool is_left = false;
  do {
    is_new = open_file(path);
    error = lock(file_);
    is_left = claim == Claim::from_server && owner_in(path_) == owner_text(job, true, files);
    if (is_held(error) && !is_left) {
      throw is_owned(path, path_, me_);
    }
    if (is_held(error)) {
      path_.folder().unlink(
          path_.name());  // the server is stopped: a lock of this process takes its place
    }
  } while (!has_its_name(file_, path_));
  if (error != 0 && !is_new && !is_left) {
    take_over(path, pace);
  }
  follows_a_crash_ = !is_new;
  write_me();
  if (error != 0) {  // there are no locks
    beats_ = std::make_unique<Beats>(path_, me_, pace);
  }
}

// @return true if the file is new.
bool Owner::open_file(const Path& path) {
  while (true) {
    std::optional<Descriptor> made;
    std::optional<Descriptor> found;
    const Outcome opened = outcome_of([&] {
      made = path_.folder().create_first(path_.name(), O_RDWR);
      if (!made) {  // its owner may end in between
        found = path_.folder().open_if_there(path_.name(), O_RDWR);
      }
    });
    if (!opened.ok()) {
      throw Error{opened.code, "cannot create a file beside " + path.text() + ": " + opened.story};
    }
    if (made || found) {
      file_ = made ? *std::move(made) : *std::move(found);
      return made.has_value();
    }
  }
}

// Takes the lock file of an owner that ended without removing it, if there are no locks. Others may
// try the same.
void Owner::take_over(const Path& path, BeatPace pace) {
  log::warning("the file system of " + path.text() + " has no locks: waiting up to " +
               std::to_string((pace.silence + pace.interval).count() / 1000) +
               " s to see whether another job still writes it");
  if (beats(path_, pace)) {
    throw is_owned(path, path_, me_);
  }
  write_me();
  std::this_thread::sleep_for(pace.interval);
  if (owner_in(path_) != me_) {
    throw is_owned(path, path_, me_);
  }
}

// Names the owner in the lock. With locks it is for people only, so a failure is not told.
void Owner::write_me() const {
  (void)!::ftruncate(file_.raw(), 0);
  (void)outcome_of([&] { write_plainly(file_, 0, std::as_bytes(std::span{me_}), path_.text()); });
}

Owner::~Owner() {
  // An owner that slept may have lost the file. A full disk may have kept only a part of its name.
  bool is_mine = false;
  (void)outcome_of(
      [&] { is_mine = beats_ ? me_.starts_with(owner_in(path_)) : has_its_name(file_, path_); });
  beats_.reset();
  if (file_.is_open() && is_mine) {
    path_.folder().unlink(path_.name());
  }
}

Holder holder_of(const Path& path) {
  const Path lock = lock_of(path);
  Holder holder;
  const Outcome looked = outcome_of([&] {
    if (const auto file = lock.folder().open_if_there(lock.name(), O_RDONLY)) {
      auto found = whole_file();
      const bool is_told = ::fcntl(file->raw(), F_OFD_GETLK, &found) == 0;
      holder = {!is_told                  ? Holder::State::unknown
                : found.l_type == F_UNLCK ? Holder::State::ended
                                          : Holder::State::alive,
                owner_in(lock)};
      holder.files = holder.job.ends_with(set_mark) ? Owner::Files::set : Owner::Files::one;
      holder.job = job_of(holder.job);
    }
  });
  return looked.ok() ? holder : Holder{Holder::State::unknown, {}};
}

bool is_locked_by(const Path& path, const std::string& job) {
  bool is_its = false;
  (void)outcome_of([&] { is_its = job_in(lock_of(path)) == job; });
  return is_its;
}

bool Owner::has(const std::string& target, const Path& path) const {
  return target == path.name() || (files_ == Files::set && step_in_name(target, path.name()));
}

void Owner::check_others(const Path& path) const {
  const auto refuse_if = [&](const std::string& other, bool is_step) {
    const auto holder = holder_of(path.beside(other));
    if (holder.state == Holder::State::alive && (is_step || holder.files == Files::set)) {
      const std::string job = holder.job == job_of(me_) ? "this job" : "the job " + holder.job;
      throw Error{ErrorCode::target_exists,
                  path.text() + " and " + other + " can name the same file, a step of " +
                      (is_step ? path.name() : other) + ", and " + job + " writes " + other +
                      "; choose another path for one of them"};
    }
  };
  if (files_ == Files::one) {
    if (const auto of_step = name_of_step(path.name())) {
      refuse_if(of_step->plain, false);
    }
    return;
  }
  for (const auto& name : path.folder().names()) {
    if (const auto locked = is_lock_of(name);
        !locked.empty() && locked != path.name() && has(locked, path)) {
      refuse_if(locked, true);
    }
  }
}

namespace {

// Removes manifests without their file, which a job was about to remove, or to name, when it ended.
void remove_lonely_manifests(const Path& path, const Owner& owner) {
  constexpr std::string_view ending = ".json";
  const OpenFolder& folder = path.folder();
  for (const auto& name : folder.names()) {
    if (!name.ends_with(ending)) {
      continue;
    }
    const std::string target = name.substr(0, name.size() - ending.size());
    std::optional<std::string> lonely;
    (void)outcome_of([&] {
      if (owner.has(target, path) && !folder.has(target)) {
        folder.sync();  // a power loss must not bring the target back without it
        lonely = folder.read(name);
      }
    });
    if (lonely.value_or("").find("\"iocomp_manifest\"") != std::string::npos) {
      log::info(folder.text(name) + " was left by a job that ended early: removed");
      folder.unlink(name);
    }
  }
}

}  // namespace

void clear_away(const Path& path, const Owner& owner) {
  for (const auto& name : path.folder().names()) {
    const std::string target = belongs_to(name);
    if (target.empty() || !owner.has(target, path)) {
      continue;
    }
    const Path temporary = path.beside(name);
    if (name.ends_with(set_aside_ending)) {
      put_back(path.folder(), name, target);
    } else {
      log::info(temporary.text() + " was left by a job that ended early: removed");
      remove_begun(temporary);
    }
  }
  if (owner.follows_a_crash()) {
    remove_lonely_manifests(path, owner);
  }
}

}  // namespace iocomp::commit
