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

/// The order between the files of this rank. A step of a later file is committed only after the
/// steps of earlier files that this rank had ended. The lead of a file decides that. This rank
/// tells it what the step comes after. It also tells how far the other files have come, if the lead
/// does not hear of that.
class Sequence {
 public:
  Sequence(const config::Settings& settings, const Place& place, Link& link, OpenedFiles& files)
      : settings_{settings}, place_{place}, link_{link}, files_{files} {}

  /// A file that is being opened comes after those that its settings name.
  /// @throws Error{invalid_setting} if that goes round in a circle.
  void begin(OpenedFile& opened);
  /// A file has been opened, so the failure of an earlier file of its name no longer counts.
  void opened(OpenedFile& opened);
  /// From its current step on, a file comes after files of this name.
  /// @throws Error{invalid_argument} if that goes round in a circle.
  void add(File& file, const std::string& name);
  /// Tell leads, which do not hear of it themselves, how far other files have come.
  /// @param waits  true if the caller may wait.
  void tell(bool waits = false);
  /// The program has closed a file.
  void closed(const OpenedFile& opened);

 private:
  struct Pair {              // a file and one that comes before it
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
