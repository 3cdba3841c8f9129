// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/side_jobs.h"
#include "client/council/peer_council.h"
#include "commit/lead.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "commit/reports.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "steps/ends.h"
#include "steps/predecessors.h"
#include "trace/counters.h"
#include "trace/span.h"

namespace iocomp::client {

/// Carries reports of one member of a file to the lead, and orders back, if members write the file
/// themselves. The lead is on the first member, and is a part of this object there.
class FileCouncil {
 public:
  struct Setup {
    PeerCouncil::Setup peers;
    std::vector<int> members;  ///< their compute ranks
    commit::Lead::Setup lead;
  };
  /// @param progress  of all files of this rank.
  FileCouncil(Setup setup, trace::Counters& counters, steps::Progress& progress);

  /// The lead; null except on the first member.
  [[nodiscard]] commit::Lead* lead() noexcept { return lead_ ? &*lead_ : nullptr; }
  /// Set this if nobody on this rank waits for what the lead does on the disk from here on. Then it
  /// is done in a thread.
  void go_beside(bool beside) noexcept { jobs_.go_beside(beside); }
  /// Wait for the jobs in that thread.
  void finish_jobs() { jobs_.finish(); }
  [[nodiscard]] int member() const noexcept { return peers_.member(); }
  [[nodiscard]] int compute_rank() const { return compute_rank_of(peers_.member()); }

  /// Reports of this member, and of those below it.
  [[nodiscard]] commit::Reports& reports() noexcept { return reports_; }
  /// This member has ended a step or closed the file: home_step or home_close.
  void ended(protocol::Kind kind, const protocol::StepCounts& counts) {
    reports_.ended(kind, counts, "compute rank " + std::to_string(compute_rank()));
  }
  /// A report that is not joined with others.
  void pass(protocol::Bytes message);

  /// Move messages on. Calls `obey` for each order for this member, in sequence, until it has
  /// `enough`. @return true if anything moved.
  using Obey = std::function<void(protocol::Kind, std::span<const std::byte> body)>;
  bool advance(const Obey& obey, const std::function<bool()>& enough);
  /// The file is closed.
  void leave() { peers_.leave(); }
  /// True if the members that report to this one have left, too.
  [[nodiscard]] bool have_all_left() { return peers_.have_all_left(); }

 private:
  [[nodiscard]] int compute_rank_of(int member) const {
    return members_.at(static_cast<std::size_t>(member));
  }
  void run(commit::Publication::Job job, commit::Publisher::Then then);
  void take_report(int member, const protocol::Bytes& message);

  std::uint64_t key_;
  std::vector<int> members_;
  PeerCouncil peers_;
  commit::Reports reports_;
  trace::Counters& counters_;
  trace::Recorder record_;
  SideJobs jobs_;
  std::optional<commit::Lead> lead_;
};

}  // namespace iocomp::client
