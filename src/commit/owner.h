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

/// Who writes the files of a path: a lock on a file beside them, ".fields.h5.iocomp-lock". The
/// system gives it back when the process ends, however that happens. So nobody has to guess from
/// the number of a process, which means another process in another container. Where the file system
/// has no locks, a thread writes a number into that file every few seconds. Who finds the file
/// watches it before it takes the file over.
class Owner {
 public:
  /// @param path  of one file, or of all files of a set of checkpoints.
  /// @param job   for those who are refused.
  enum class Claim {
    alone,
    of_server,    ///< alone; it may be stopped, and the compute ranks go on without it
    from_server,  ///< alone, but for one of this job, which has ended or will find that out
  };
  /// @throws Error{target_exists} where another process owns them, with its job;
  /// Error{storage_failure} where nothing can be created beside them.
  Owner(const Path& path, const std::string& job, Claim claim = Claim::alone, BeatPace pace = {});
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner();

 private:
  [[nodiscard]] bool open_file(const Path& path);
  void take_over(const Path& path, BeatPace pace);
  void write_me() const;

  Path path_;
  std::string me_;  // as the lock says it
  Descriptor file_;
  std::unique_ptr<Beats> beats_;  // where there are no locks
};

/// Who holds the lock of a path, seen from outside.
struct Holder {
  enum class State {
    nobody,   ///< there is no lock
    ended,    ///< a lock is there, and its process is not
    alive,    ///< a process holds it
    unknown,  ///< it cannot be read, or the file system has no locks
  };
  State state = State::nobody;
  std::string job;  ///< as it wrote it down
};
/// Look, and touch nothing.
[[nodiscard]] Holder holder_of(const Path& path);
/// True if a lock of any process of this job is there.
[[nodiscard]] bool is_locked_by(const Path& path, const std::string& job);
/// The temporaries beside a path that are for its files: those of a job that writes them now, or
/// what one has left.
[[nodiscard]] std::vector<Path> temporaries_of(const Path& path);

/// Remove what a job has left that began to write the files of a path, and ended: temporaries, and
/// manifests without their file. Where a file was set aside it gets its name again. It is told in
/// the log.
/// @param owner       of these files, which shows that nobody else is writing them.
/// @param may_appear  see TargetNames: a server that was stopped may own them when the compute
/// ranks have written and closed them without it.
void clear_away(const Path& path, const Owner& owner, const std::function<void()>& may_appear = {});

}  // namespace iocomp::commit
