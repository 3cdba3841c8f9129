// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/path.h"
#include "commit/beats.h"

namespace iocomp::commit {

/// Shows which process writes the files of a path, by a lock on a file beside them,
/// ".fields.h5.iocomp-lock". The system releases the lock when the process ends, however that
/// happens. So nobody has to guess from the number of a process, which means another process in
/// another container. If the file system has no locks, a thread writes a number into that file
/// every few seconds. Whoever finds the file watches it before taking it over.
class Owner {
 public:
  enum class Files { one, set };  ///< of all steps, or one for each step
  enum class Claim {
    alone,
    of_server,    ///< alone; it may be stopped, and the compute ranks go on without it
    from_server,  ///< alone, or after a server of this job, which has ended or will notice it
  };
  /// @param path  of one file, or of all files of a set.
  /// @param job   told to those who are refused.
  /// @throws Error{target_exists} where another process owns them, with its job;
  /// Error{storage_failure} where nothing can be created beside them.
  Owner(const Path& path, const std::string& job, Claim claim = Claim::alone,
        Files files = Files::one, BeatPace pace = {});
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner();

  /// Refuse a file that is called like a step of a set, while the set is being written; or such a
  /// set. @throws Error{target_exists}.
  void check_others(const Path& path) const;
  /// True if an owner has ended without removing its lock.
  [[nodiscard]] bool follows_a_crash() const noexcept { return follows_a_crash_; }
  /// True if a file belongs to this owner, by its name.
  [[nodiscard]] bool has(const std::string& target, const Path& path) const;

 private:
  [[nodiscard]] bool open_file(const Path& path);
  void take_over(const Path& path, BeatPace pace);
  void write_me() const;

  Path path_;
  std::string me_;  // as it is written in the lock
  Files files_;
  bool follows_a_crash_ = false;
  Descriptor file_;
  std::unique_ptr<Beats> beats_;  // if there are no locks
};

/// The holder of the lock of a path, seen from outside.
struct Holder {
  enum class State {
    nobody,   ///< there is no lock
    ended,    ///< there is a lock, and its process has ended
    alive,    ///< a process holds it
    unknown,  ///< the lock cannot be read, or there are no locks in the file system
  };
  State state = State::nobody;
  std::string job;  ///< as the lock names it
  Owner::Files files = Owner::Files::one;
};
/// Find the holder without changing anything.
[[nodiscard]] Holder holder_of(const Path& path);
/// True if a lock of any process of this job is there.
[[nodiscard]] bool is_locked_by(const Path& path, const std::string& job);
/// Remove what an ended job has left that began to write the files of a path: temporaries, and,
/// if it crashed, manifests without their file. A file that was set aside gets its name again. The
/// log tells it.
/// @param owner  of these files; it shows that nobody else writes them.
void clear_away(const Path& path, const Owner& owner);

}  // namespace iocomp::commit
