// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "protocol/messages.h"

namespace iocomp::commit {

/// Joins the reports of writers on a file on their way to the lead. One report is of all writers
/// that report here: this one, and those whose reports come through it.
class WriterReports {
 public:
  using Pass = std::function<void(protocol::Bytes message)>;
  /// @param writers  the number of writers that report here.
  WriterReports(std::uint64_t key, int writers, Pass pass)
      : key_{key}, writers_{writers}, pass_{std::move(pass)} {}

  /// Some writers have done what they were to do with a step, or have failed.
  void step_done(const protocol::StepNote& note);
  /// Some writers have carried out an action, or have failed.
  void action_done(const protocol::ActionNote& note);
  /// A writer asks for the place of a variable. All are told when one has asked.
  void want_place(const protocol::StepNote& note);
  /// A definition has come. A variable of another shape has another place.
  void defined(const protocol::Event& event);
  /// A writer waits for the commit of a step.
  void hurry(std::int64_t step);

 private:
  std::uint64_t key_;
  int writers_;
  Pass pass_;
  std::map<std::int64_t, protocol::StepNote> done_;       // by step, of some writers
  std::map<std::int64_t, protocol::ActionNote> actions_;  // by number, of some writers
  std::set<std::pair<std::int64_t, std::int32_t>> asked_;
  std::int64_t hurried_ = -1;  // up to this step
};

}  // namespace iocomp::commit
