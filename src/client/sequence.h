// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/file.h"
#include "client/link.h"
#include "client/opened_file.h"
#include "client/place.h"
#include "config/settings.h"
#include "steps/predecessors.h"

namespace iocomp::client {

/// Which files of this rank come after which others: their steps are committed only when the steps
/// that this rank had ended of those others are. The lead of a file decides that; this rank tells
/// it what the step comes after, and how far the others have come where the lead does not hear of
/// that.
class Sequence {
 public:
  Sequence(const config::Settings& settings, const Place& place, Link& link, OpenedFiles& files)
      : settings_{settings}, place_{place}, link_{link}, files_{files} {}

  /// A file that is being opened comes after those that its settings name.
  /// @throws Error{invalid_setting} if that goes round in a circle.
  void begin(OpenedFile& opened);
  /// A file has been opened, so the failure of an earlier one of its name counts no more.
  void opened(OpenedFile& opened);
  /// From its current step on, a file comes after files of this name.
  /// @throws Error{invalid_argument} if that goes round in a circle.
  void add(File& file, const std::string& name);
  /// Tell leads that do not hear of it themselves how far others have come.
  /// @param waits  whether the caller may wait.
  void tell(bool waits = false);
  /// The program has closed a file.
  void closed(const OpenedFile& opened);

 private:
  struct Pair {              // of a file and one that comes before it
    bool is_teller = false;  // this rank tells the lead, if that does not hear of it
    bool has_same_members = false;
    bool has_told = false;
    bool told_servers = false;
    steps::Standing told{};
  };
  void follow(OpenedFile& opened);
  [[nodiscard]] std::string circle(const std::string& name, const std::vector<std::string>& before);
  [[nodiscard]] std::vector<std::string> before(const std::string& name) const;
  [[nodiscard]] steps::Predecessors find(const OpenedFile& opened);
  [[nodiscard]] steps::Predecessor find(const OpenedFile& opened, OpenedFile& other);
  [[nodiscard]] Pair& pair(const OpenedFile& opened, const OpenedFile& other);
  void tell(const OpenedFile& opened, const OpenedFile& other, bool waits);

  const config::Settings& settings_;
  const Place& place_;
  Link& link_;
  OpenedFiles& files_;
  std::map<std::string, std::uint64_t> failed_;  // closed, by name: keys
  std::map<std::pair<std::uint64_t, std::uint64_t>, Pair> pairs_;
  std::optional<std::uint64_t> heard_;  // version of the progress of all files
};

}  // namespace iocomp::client
