#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "protocol/messages.h"
#include "steps/definitions.h"
#include "steps/ends.h"

namespace iocomp::client {

/// What a member of a council and those below it say of a file, on its way to the lead: compared,
/// and summed to one report of all of them.
class Reports {
 public:
  using Pass = std::function<void(protocol::Bytes message)>;
  /// @param members  that are heard here.
  Reports(std::uint64_t key, std::string file_name, int members, Pass pass);

  void event(const protocol::Event& event);
  void step_ended(const protocol::StepCounts& counts, const std::string& who);
  void closed(const protocol::StepCounts& counts, const std::string& who);
  void step_done(const protocol::StepNote& note);

 private:
  void different(const steps::Difference& difference);

  std::uint64_t key_;
  std::string file_name_;
  int members_;
  Pass pass_;
  steps::Definitions definitions_;
  steps::Ends ends_;
  std::map<std::int64_t, protocol::StepNote> done_;  // by step: of some
};

}  // namespace iocomp::client
