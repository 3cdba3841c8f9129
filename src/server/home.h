// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "commit/reports.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "steps/ends.h"

namespace iocomp::server {

/// A file at the home of some of its members. It compares their calls, sums what they have put in a
/// step, joins that with the reports of the servers below, and reports it once.
class HomeFile {
 public:
  /// Takes joined reports on their way to the lead.
  using Pass = std::function<void(protocol::Bytes message)>;
  HomeFile(Context& context, std::uint64_t key, Pass pass);

  void open(int client, const protocol::Open& open);
  void event(int client, const protocol::Event& event);
  void end_step(int client, const protocol::StepCounts& counts);
  void close(int client, const protocol::StepCounts& counts);
  /// Steps from this one on are lost.
  void give_up(const protocol::StepNote& from);
  /// The progress of a file that this one comes after.
  void other(std::span<const std::byte> body) {
    pass_(protocol::message(protocol::Kind::home_other, key_, body));
  }
  /// The file is known here, maybe before a client of this server has opened it.
  void known(const protocol::Open& open);
  /// The client will not close the file any more. The steps that it has ended count. If it had to
  /// open the file and has not, all are told.
  void left(int client);

  /// A report of this server itself, or of a server right below for itself and those below it.
  void report(protocol::Kind kind, int server, std::span<const std::byte> body);

  /// The lead's answers.
  void opened(const protocol::Opened& opened);
  void settled(std::int64_t step, const Outcome& outcome);
  void failed(const Outcome& outcome, std::int64_t from_step);
  void closed(const Outcome& outcome);

  /// True if nobody will ask for this file any more.
  [[nodiscard]] bool is_over() const noexcept;

 private:
  /// True if all compute ranks are members.
  [[nodiscard]] bool is_of_all() const;
  void different(const steps::Difference& difference);
  void open(const protocol::Open& open, const std::string& who);
  [[nodiscard]] std::string compute_rank(int client) const;

  Context& context_;
  std::uint64_t key_;
  Pass pass_;
  std::optional<protocol::Open> known_;          // as the lead knows it, or the first open
  std::optional<protocol::Open> first_open_;     // the first open, here or below
  std::set<int> absent_;                         // clients that have left without opening it
  std::int64_t home_members_ = -1;               // unknown before one of them has opened the file
  std::vector<int> clients_;                     // session ranks that have opened
  std::map<int, protocol::StepCounts> in_step_;  // the step of each client that has not closed
  std::optional<protocol::Opened> opened_;
  std::optional<Outcome> closed_;
  commit::Reports reports_;
  bool is_different_ = false;                // or the file has failed anyway
  std::optional<protocol::Notice> failure_;  // of the file
};

}  // namespace iocomp::server
