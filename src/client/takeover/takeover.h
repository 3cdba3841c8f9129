// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/error.h"
#include "client/link.h"
#include "client/local/disk_work.h"
#include "client/local/local_opener.h"
#include "client/opened_file.h"
#include "client/place.h"
#include "commit/publication.h"
#include "protocol/notes.h"

namespace iocomp::client {

/// Decides what becomes of files whose servers are given up. The compute ranks finish them if they
/// can.
class Takeover {
 public:
  Takeover(const Place& place, Link& link, DiskWork& disk, LocalOpener& opener, OpenedFiles& files)
      : place_{place}, link_{link}, disk_{disk}, opener_{opener}, files_{files} {}

  /// If servers were lost, leave them and carry on with all files that they wrote.
  void go_on_without_servers();
  /// Carry on with one of these files.
  void carry_on(OpenedFile& opened);
  /// The beginning of a file, if the servers were lost before they told it to this rank.
  /// @throws Error.
  [[nodiscard]] contents::Beginning find_beginning(const OpenedFile& opened) const;
  /// True if other ranks may have been told that the file is open, while the servers were lost
  /// before they told this rank.
  [[nodiscard]] bool is_opened_by_servers(const OpenedFile& opened);
  /// Check likewise that the file is not refused. @throws Error with the same code.
  void check_not_refused(const OpenedFile& opened);

 private:
  [[nodiscard]] std::optional<Outcome> obstacle(OpenedFile& opened);
  void settle_steps(const OpenedFile& opened);
  void take_over(OpenedFile& opened);
  [[nodiscard]] commit::Publication names_of(const OpenedFile& opened) const;
  [[nodiscard]] bool has_note(const OpenedFile& opened, protocol::Note note, std::int64_t step = 0);
  [[nodiscard]] std::function<bool(std::int64_t)> committed_steps(const OpenedFile& opened,
                                                                  bool can_tell);

  const Place& place_;
  Link& link_;
  DiskWork& disk_;
  LocalOpener& opener_;
  OpenedFiles& files_;
  bool servers_have_ended_ = false;  // those that were lost
};

}  // namespace iocomp::client
