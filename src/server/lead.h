#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/error.h"
#include "commit/publisher.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "steps/coordinator.h"
#include "steps/definitions.h"

namespace iocomp::server {

/// A file as the lead (server 0) sees it: brings what homes and servers report to the coordinator,
/// and its orders to the servers, or to the publisher.
class LeadFile {
 public:
  LeadFile(Context& context, std::uint64_t key, const protocol::Open& open,
           const config::FileSettings& settings, const formats::Format& format);

  /// Begin: refuse what stands in the way, start the physical file, tell all servers.
  void start();

  // From homes and servers.
  void open(const protocol::Open& open);
  void event(const protocol::Event& event);
  void want_place(const protocol::StepNote& note);
  void home_step(const protocol::StepCounts& counts);
  void step_done(const protocol::StepNote& note);
  void put_report(protocol::PutReport report);
  void home_close(const protocol::StepCounts& counts);
  void action_done(const protocol::ActionNote& note);
  /// Steps from this one on have failed.
  void fail(const Outcome& outcome, std::int64_t from_step);

  [[nodiscard]] bool is_over() const noexcept { return over_; }
  [[nodiscard]] bool has_failed() const noexcept { return !coordinator_.failure().ok(); }

 private:
  struct Action {
    int servers = 0;
    Outcome outcome;
    commit::Publisher::Then then;
  };
  void take_orders();
  void obey(const steps::Expect& order);
  void obey(const steps::Fill& order);
  void obey(const steps::Settle& order);
  void obey(const steps::Fail& order);
  void obey(const steps::Closed& order);
  void obey(const steps::Look& order);
  void obey(const steps::Commit& order);
  void obey(const steps::Drop& order);
  void obey(const steps::Finish& order);
  void act(steps::Action action, std::int64_t step, int variable, std::int64_t settled,
           commit::Publisher::Then then);
  [[nodiscard]] commit::Publisher::Means means();
  void opened(const Outcome& outcome);

  Context& context_;
  std::uint64_t key_;
  protocol::Open open_;
  bool file_per_step_;
  contents::Catalogue catalogue_;
  steps::Definitions definitions_;
  steps::Coordinator coordinator_;
  commit::Publisher publisher_;
  std::map<std::int64_t, Action> actions_;
  std::int64_t next_action_ = 0;
  bool over_ = false;
};

}  // namespace iocomp::server
