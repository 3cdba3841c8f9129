#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "commit/reports.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "steps/ends.h"

namespace iocomp::server {

/// A file as the home of some of its members sees it: compares what they call, sums what they have
/// put in a step, and tells the lead once per home.
class HomeFile {
 public:
  HomeFile(Context& context, std::uint64_t key) : context_{context}, key_{key} {}

  void open(int client, const protocol::Open& open);
  void event(int client, const protocol::Event& event);
  void end_step(int client, const protocol::StepCounts& counts);
  void close(int client, const protocol::StepCounts& counts);
  /// Steps from this one on are lost.
  void give_up(const protocol::StepNote& from);
  /// It will not close the file any more: what it has ended counts.
  void left(int client);

  /// The lead's answers.
  void opened(const protocol::Opened& opened);
  void settled(std::int64_t step, const Outcome& outcome);
  void failed(const Outcome& outcome, std::int64_t from_step);
  void closed(const Outcome& outcome);

  /// Nobody will ask for this file any more.
  [[nodiscard]] bool is_over() const noexcept;

 private:
  void different(const steps::Difference& difference);
  [[nodiscard]] std::string compute_rank(int client) const;

  Context& context_;
  std::uint64_t key_;
  std::optional<protocol::Open> open_;
  std::vector<int> clients_;                     // session ranks that have opened
  std::map<int, protocol::StepCounts> in_step_;  // of those that have not closed: where they are
  std::optional<protocol::Opened> opened_;
  std::optional<Outcome> closed_;
  std::optional<commit::Reports> reports_;   // known with open_
  bool is_different_ = false;                // or the file has failed anyway
  std::optional<protocol::Notice> failure_;  // of the file
};

}  // namespace iocomp::server
