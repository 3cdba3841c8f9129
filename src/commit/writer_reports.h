// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "protocol/messages.h"

namespace iocomp::commit {

/// What writers say of a file on its way to the lead, joined to one report of all that are heard
/// here: a writer, and those whose reports come through it.
class WriterReports {
 public:
  using Pass = std::function<void(protocol::Bytes message)>;
  /// @param writers  that are heard here.
  WriterReports(std::uint64_t key, int writers, Pass pass)
      : key_{key}, writers_{writers}, pass_{std::move(pass)} {}

  /// Some have done what they were to do with a step, or failed.
  void step_done(const protocol::StepNote& note);
  /// Some have carried out an action, or failed.
  void action_done(const protocol::ActionNote& note);
  /// One wants to know where a variable goes; all are told when one was.
  void want_place(const protocol::StepNote& note);
  /// A definition: a variable of another shape has another place.
  void defined(const protocol::Event& event);
  /// One waits for the commit of a step.
  void hurry(std::int64_t step);

 private:
  std::uint64_t key_;
  int writers_;
  Pass pass_;
  std::map<std::int64_t, protocol::StepNote> done_;       // by step: of some
  std::map<std::int64_t, protocol::ActionNote> actions_;  // by number: of some
  std::set<std::pair<std::int64_t, std::int32_t>> asked_;
  std::int64_t hurried_ = -1;  // up to this step
};

}  // namespace iocomp::commit
