// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/open_folder.h"
#include "protocol/messages.h"
#include "steps/definitions.h"
#include "steps/ends.h"

namespace iocomp::commit {

/// What a rank said when it opened a file that was open already: how that differs from what the
/// first one has said; empty if it does not.
/// @param who  has said it.
[[nodiscard]] std::string different_open(const protocol::Open& first, const protocol::Open& other,
                                         const std::string& who);

/// The difference between the folders that two ranks mean; empty if it is one folder.
[[nodiscard]] std::string different_folder(const FolderAddress& first, const FolderAddress& other);

/// What some say of a file on its way to the lead, compared and summed to one report of all of
/// them: at a home, what its members say; in a council of members, what a member and those below it
/// say.
class Reports {
 public:
  using Pass = std::function<void(protocol::Bytes message)>;
  using Different = std::function<void(const steps::Difference&)>;
  /// @param members  that are heard here.
  /// @param different  told of members that say different things.
  Reports(std::uint64_t key, std::int64_t members, Pass pass, Different different);

  void event(const protocol::Event& event);
  /// @param who  for people: "compute rank 3".
  void step_ended(const protocol::StepCounts& counts, const std::string& who);
  void closed(const protocol::StepCounts& counts, const std::string& who);

 private:
  std::uint64_t key_;
  Pass pass_;
  Different different_;
  steps::Definitions definitions_;
  steps::Ends ends_;
};

}  // namespace iocomp::commit
