// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>

#include <string>

namespace iocomp::apps {

/// @throws std::runtime_error with the call's name and iocomp's story unless `code` is IOCOMP_OK.
void check(int code, const char* call);

/// One iocomp session. Servers do not come back from the constructor, unless `server.end` is
/// set.
class Session {
 public:
  /// Collective over MPI_COMM_WORLD. @param settings  TOML text of the program.
  explicit Session(const std::string& settings);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Leaves an open session alone: finalize is collective, and an exception ends the job anyway.
  ~Session() = default;

  /// Collective over the session. Call it once, on the normal path.
  void finalize();

  [[nodiscard]] iocomp_session* handle() const noexcept { return session_; }
  [[nodiscard]] MPI_Comm comm() const { return iocomp_comm(session_); }
  [[nodiscard]] bool is_server() const { return iocomp_role(session_) == IOCOMP_SERVER; }

  /// All settings in force, one per line.
  [[nodiscard]] std::string settings() const;
  /// The value of one of them as text, or "" if it is not listed.
  [[nodiscard]] std::string setting(const std::string& key) const;

 private:
  iocomp_session* session_ = nullptr;
};

/// The same for a text of settings, with lines such as `mode = sync  (environment IOCOMP_MODE)`.
[[nodiscard]] std::string setting_in(const std::string& settings, const std::string& key);

}  // namespace iocomp::apps
