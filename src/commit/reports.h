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

/// The difference between what two ranks said when they opened one file; empty if there is none.
/// @param who  the rank that has said `other`.
[[nodiscard]] std::string different_open(const protocol::Open& first, const protocol::Open& other,
                                         const std::string& who);

/// The difference between the folders that two ranks mean; empty if it is one folder.
[[nodiscard]] std::string different_folder(const FolderAddress& first, const FolderAddress& other);

/// Compares reports on a file on their way to the lead, and sums them to one report. At a home they
/// come from its members; in a council of members, from a member and those below it.
class Reports {
 public:
  using Pass = std::function<void(protocol::Bytes message)>;
  using Different = std::function<void(const steps::Difference&)>;
  /// @param members  the number of members that report here.
  /// @param different  called when the reports of members differ.
  Reports(std::uint64_t key, std::int64_t members, Pass pass, Different different);

  void event(const protocol::Event& event);
  /// @param who  names them in messages: "compute rank 3".
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
