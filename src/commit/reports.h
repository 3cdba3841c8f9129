// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/open_folder.h"
#include "protocol/header.h"
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

/// Joins reports on a file on their way to the lead. Those of members are compared, and summed to
/// one report. At a home they come from its members; in a council of members, from a member and
/// those below it. One report of writers is of all that report here: this one, and those whose
/// reports come through it.
class Reports {
 public:
  using Pass = std::function<void(protocol::Bytes message)>;
  using Different = std::function<void(const steps::Difference&)>;
  /// @param writers  the number of writers that report here.
  /// @param different  called when the reports of members differ.
  Reports(std::uint64_t key, int writers, Pass pass, Different different);
  /// So many members report here. They do so after this call.
  void expect(std::int64_t members) { ends_.emplace(members, different_); }

  /// A report that has come in a message. Some reports are joined, and others are passed on.
  /// @param who  names those that report in messages: "compute rank 3".
  void take(protocol::Kind kind, std::span<const std::byte> body, const std::string& who);

  // Reports of members.
  void event(const protocol::Event& event);
  /// @param kind  home_step or home_close.
  void ended(protocol::Kind kind, const protocol::StepCounts& counts, const std::string& who);

  // Reports of writers.
  /// A definition has come. A variable of another shape has another place.
  void defined(const protocol::Event& event);
  /// Some writers have carried out an action, or have failed.
  void action_done(const protocol::ActionNote& note);
  /// step_done: some writers have done what they were to do with a step, or have failed.
  /// want_place: all are told when one has asked. flush: a writer waits for the commit of a step.
  /// Others are passed on.
  void note(protocol::Kind kind, const protocol::StepNote& note);

 private:
  void step_done(const protocol::StepNote& note);

  std::uint64_t key_;
  int writers_;
  Pass pass_;
  Different different_;
  steps::Definitions definitions_;
  std::optional<steps::Ends> ends_;
  std::map<std::int64_t, protocol::StepNote> done_;       // by step, of some writers
  std::map<std::int64_t, protocol::ActionNote> actions_;  // by number, of some writers
  std::set<std::pair<std::int64_t, std::int32_t>> asked_;
  std::int64_t hurried_ = -1;  // up to this step
};

}  // namespace iocomp::commit
