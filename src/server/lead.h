#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/cover.h"
#include "array/coverage.h"
#include "base/error.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/context.h"

namespace iocomp::server {

/// A file as the lead (server 0) sees it: the one log of its definitions, where variables lie,
/// which steps are complete, and their commits, in ascending order.
class LeadFile {
 public:
  LeadFile(Context& context, std::uint64_t key, const protocol::Open& open,
           config::FileSettings settings, const formats::Format& format);

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
  void fail(const Outcome& outcome);

  [[nodiscard]] bool is_over() const noexcept { return over_; }
  [[nodiscard]] bool has_failed() const noexcept { return !failure_.ok(); }

 private:
  using Then = std::function<void(const Outcome&)>;
  struct Step {
    protocol::StepCounts sum;
    int servers_done = 0;
    bool complete = false;
    Outcome failure;
    std::vector<std::int32_t> unsure;       // variables that may be put twice somewhere
    std::vector<protocol::PutRecord> puts;  // of these
    std::map<std::int32_t, std::shared_ptr<const array::RunList>> holes;  // to be filled
  };
  struct Gaps {  // what is known of a coverage: no overlap
    array::Cover cover;
    array::Shape shape;
    std::shared_ptr<const array::RunList> holes;
  };
  struct Question {  // to be answered by the worker
    std::int32_t variable;
    array::Shape shape;
    std::vector<array::Part> parts;
    std::vector<std::int32_t> ranks;  // whose they are
    array::Coverage found;
  };
  struct Target {
    std::unique_ptr<formats::Target> format;  // plain files whose offsets the format chooses
    std::shared_ptr<disk::OutputFile> file;   // for size and fsync
    bool asked = false;
    bool started = false;
    Outcome failure;
    std::vector<Then> waiting;
  };
  struct Action {
    int servers = 0;
    Outcome outcome;
    Then then;
  };

  [[nodiscard]] bool is_plain() const {
    return format_.access(options_) == formats::Access::plain_file;
  }
  void with_target(std::int64_t number, Then then);
  void target_started(std::int64_t number, const Outcome& outcome);
  void act(protocol::Action action, std::int64_t step, int variable, Then then);
  void place(std::int64_t step, int variable);
  void placed(std::int64_t step, int variable, std::int64_t offset, const Outcome& outcome);
  void announce(std::int64_t step);
  [[nodiscard]] protocol::Expectation expectation(std::int64_t step);
  [[nodiscard]] const Gaps* known_gaps(std::int64_t step, std::int32_t variable);
  void note_gaps(std::int64_t step, std::int32_t variable, const Gaps& gaps);
  void examine(std::int64_t step);
  void examined(std::int64_t step, const std::vector<Question>& questions, const Outcome& outcome);
  void fill_holes(std::int64_t step);
  void advance();
  void commit(std::int64_t first, std::int64_t last);
  void drop(std::int64_t step, const Outcome& outcome);
  void prepare_commit(std::int64_t step, const Then& then);
  void seal(std::int64_t last, commit::Publication::Job job, Then then);
  void settle(std::int64_t step, const Outcome& outcome);
  void close();
  void closed(const Outcome& outcome);
  [[nodiscard]] Outcome in_file(const Outcome& outcome, std::int64_t step) const;

  Context& context_;
  std::uint64_t key_;
  protocol::Open open_;
  config::FileSettings settings_;
  const formats::Format& format_;
  formats::FormatOptions options_;
  commit::Publication publication_;
  contents::Catalogue catalogue_;
  contents::Contents contents_;
  std::vector<std::pair<std::int32_t, protocol::Bytes>> events_;  // first caller, what
  std::map<std::int64_t, Target> targets_;
  std::map<std::pair<std::int64_t, int>, std::int64_t> offsets_;  // told by the format
  std::set<std::pair<std::int64_t, int>> asked_;
  std::map<std::int64_t, Step> steps_;
  std::map<std::int64_t, Action> actions_;
  std::int64_t next_action_ = 0;
  std::int64_t next_commit_ = 0;
  bool committing_ = false;
  std::map<std::int32_t, Gaps> gaps_;  // by variable, as it was covered last
  int examining_ = 0;                  // steps
  protocol::StepCounts close_sum_;
  std::int64_t steps_ended_ = -1;  // known when all members have closed
  std::int64_t committed_ = 0;     // steps
  bool closing_ = false;
  bool over_ = false;
  Outcome failure_;
};

}  // namespace iocomp::server
