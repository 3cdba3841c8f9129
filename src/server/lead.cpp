#include "server/lead.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "commit/publisher.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "formats/file_system.h"
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "server/file.h"
#include "steps/coordinator.h"
#include "steps/coverage.h"
#include "steps/definitions.h"
#include "steps/ends.h"
#include "steps/orders.h"
#include "trace/counters.h"

namespace iocomp::server {

using protocol::Kind;

namespace {

// Homes have named the compute ranks that differ among theirs.
constexpr const char* of_a_home = "compute ranks of one server";

}  // namespace

LeadFile::LeadFile(Context& context, std::uint64_t key, const protocol::Open& open,
                   const config::FileSettings& settings, const formats::Format& format)
    : context_{context},
      key_{key},
      open_{open},
      file_per_step_{settings.file_per_step},
      catalogue_{format, settings.alignment_bytes, !settings.file_per_step},
      coordinator_{{.file_name = open.name,
                    .members = open.members,
                    .writers = context.place.ranks.size(),
                    .file_per_step = settings.file_per_step,
                    .joins_commits = !settings.file_per_step && format.readable_while_open() &&
                                     !format.writes_whole_steps(),
                    .may_overlap = settings.may_overlap},
                   catalogue_},
      publisher_{{.identity = identity(open.name, settings, context.place.job),
                  .format = &format,
                  .options = format_options(settings),
                  .disk = context.disk,
                  .who = ", server 0 (rank " + std::to_string(context.place.ranks.rank(0)) + ')'},
                 means(),
                 catalogue_} {
  open_.domain_bytes = formats::domain_bytes_at(publisher_.target_name(), settings.alignment_bytes);
}

commit::Publisher::Means LeadFile::means() {
  using Then = commit::Publisher::Then;
  return {.act = [this](steps::Action action, std::int64_t step, int variable, std::int64_t settled,
                        Then then) { act(action, step, variable, settled, std::move(then)); },
          .run =
              [this](commit::Publication::Job job, Then then) {
                context_.busy.begin(trace::Activity::commit, now_seconds());
                context_.submit(std::move(job), [this, then = std::move(then)](const Outcome& o) {
                  context_.busy.end(trace::Activity::commit, now_seconds());
                  then(o);
                });
              },
          .publishing =
              [this](std::int64_t step) {
                context_.post.write_note(protocol::word(key_, protocol::Note::publishing, step));
              },
          .dropping =
              [this](std::int64_t step) {
                context_.post.write_note(protocol::word(key_, protocol::Note::dropped, step));
              }};
}

void LeadFile::opened(const Outcome& outcome) {
  if (outcome.ok()) {
    context_.post.write_note(protocol::word(key_, protocol::Note::opened));
  } else {
    over_ = true;
  }
  context_.post.to_all_servers(
      protocol::encode(key_, protocol::Opened{outcome, open_.domain_bytes}));
}

void LeadFile::start() {
  const Outcome prepared = outcome_of([this] { publisher_.prepare(); });
  if (!prepared.ok()) {
    opened(prepared);
    return;
  }
  const auto known = protocol::encode(key_, Kind::known_file, open_);
  if (file_per_step_) {
    context_.post.to_all_servers(known);
    opened({});
  } else if (publisher_.is_plain()) {
    // Created before others hear of it, because they open it at once.
    publisher_.start(-1, [&](const Outcome& outcome) {
      if (outcome.ok()) {
        context_.post.to_all_servers(known);
      }
      opened(outcome);
    });
  } else {
    context_.post.to_all_servers(known);
    publisher_.start(-1, [this](const Outcome& outcome) { opened(outcome); });
  }
}

void LeadFile::open(const protocol::Open& open) {
  if (open.kind != open_.kind || open.members != open_.members || open.name != open_.name) {
    fail(steps::different_calls(open_.name,
                                "compute rank " + std::to_string(open.opener) +
                                    " opened it as another kind of file than compute rank " +
                                    std::to_string(open_.opener)),
         0);
  }
}

void LeadFile::event(const protocol::Event& event) {
  switch (definitions_.say(event.sequence, event.caller, event.what)) {
    case steps::Definitions::Said::again:
      return;
    case steps::Definitions::Said::different: {
      const auto difference = definitions_.difference(event.sequence, event.caller, event.what);
      fail(steps::different_calls(open_.name, difference.what), difference.from_step);
      return;
    }
    case steps::Definitions::Said::first:
      break;
  }
  const auto defined = contents::decode_event(event.what);
  const Outcome applied = outcome_of([&] { catalogue_.apply(defined); });
  if (applied.ok()) {
    context_.post.to_all_servers(protocol::encode(key_, Kind::known_event, event));
  } else {
    fail(applied, defined.step);
  }
}

void LeadFile::act(steps::Action action, std::int64_t step, int variable, std::int64_t settled,
                   commit::Publisher::Then then) {
  protocol::ActionNote note;
  note.action = action;
  note.number = next_action_++;
  note.step = step;
  note.variable = variable;
  note.settled = settled;
  actions_[note.number].then = std::move(then);
  context_.post.to_all_servers(protocol::encode(key_, Kind::action, note));
}

void LeadFile::action_done(const protocol::ActionNote& note) {
  Action& action = actions_.at(note.number);
  if (!note.outcome.ok() && action.outcome.ok()) {
    action.outcome = note.outcome;
  }
  if (++action.servers == context_.place.ranks.size()) {
    const Action done = std::move(action);
    actions_.erase(note.number);
    done.then(done.outcome);
    take_orders();
  }
}

void LeadFile::want_place(const protocol::StepNote& note) {
  const auto tell = [this, step = note.step, variable = note.variable](std::int64_t offset,
                                                                       const Outcome& outcome) {
    context_.post.to_all_servers(
        protocol::encode(key_, Kind::placed, protocol::StepNote{step, variable, offset, outcome}));
  };
  if (coordinator_.is_lost(note.step)) {
    tell(-1, coordinator_.failure());  // the target may be closed by now
  } else {
    publisher_.place(note.step, note.variable, tell);
  }
}

void LeadFile::home_step(const protocol::StepCounts& counts) {
  coordinator_.ended(counts, of_a_home);
  take_orders();
}

void LeadFile::home_close(const protocol::StepCounts& counts) {
  coordinator_.closed(counts, of_a_home);
  take_orders();
}

void LeadFile::put_report(protocol::PutReport report) {
  coordinator_.put(report.step, std::move(report.puts));
}

void LeadFile::step_done(const protocol::StepNote& note) {
  coordinator_.done(note.step, note.outcome);
  take_orders();
}

void LeadFile::fail(const Outcome& outcome, std::int64_t from_step) {
  coordinator_.failed(outcome, from_step);
  take_orders();
}

void LeadFile::take_orders() {
  while (auto order = coordinator_.next_order()) {
    std::visit([this](const auto& one) { obey(one); }, *order);
  }
}

void LeadFile::obey(const steps::Expect& order) {
  for (std::size_t server = 0; server < order.pieces.size(); ++server) {
    context_.post.to_server(
        static_cast<int>(server),
        protocol::encode(key_,
                         protocol::Expectation{order.step, order.pieces[server], order.report}));
  }
}

void LeadFile::obey(const steps::Fill& order) {
  const int servers = context_.place.ranks.size();
  for (int server = 0; server < servers; ++server) {
    context_.post.to_server(
        server,
        protocol::encode(
            key_, protocol::FillOrder{order.step, steps::share(order.holes, server, servers)}));
  }
}

void LeadFile::obey(const steps::Settle& order) {
  publisher_.settle(order.step);
  context_.post.to_all_servers(protocol::encode(
      key_, Kind::step_settled, protocol::StepNote{order.step, -1, 0, order.outcome}));
}

void LeadFile::obey(const steps::Fail& order) {
  context_.counters.add(trace::Counter::failures, 1);
  context_.post.to_all_servers(protocol::encode(
      key_, Kind::file_failed, protocol::StepNote{order.from_step, -1, 0, order.outcome}));
}

void LeadFile::obey(const steps::Closed& order) {
  over_ = true;
  context_.post.write_note(protocol::word(
      key_, order.outcome.ok() ? protocol::Note::closed : protocol::Note::failed_closed));
  context_.post.to_all_servers(protocol::encode(key_, Kind::file_closed, order.outcome));
}

void LeadFile::obey(const steps::Look& order) {
  context_.submit(
      [questions = order.questions] { std::ranges::for_each(*questions, steps::answer); },
      [this, order](const Outcome& outcome) {
        coordinator_.looked(order.step, *order.questions, outcome);
        take_orders();
      });
}

void LeadFile::obey(const steps::Commit& order) {
  publisher_.commit(order, coordinator_.next_step(), [this](const Outcome& outcome) {
    coordinator_.committed(outcome);
    take_orders();
  });
}

void LeadFile::obey(const steps::Drop& order) {
  publisher_.drop(order.step, coordinator_.next_step(), [this](const Outcome&) {
    coordinator_.dropped();
    take_orders();
  });
}

void LeadFile::obey(const steps::Finish& order) {
  publisher_.finish(order, coordinator_.next_step(), [this](const Outcome& outcome) {
    coordinator_.finished(outcome);
    take_orders();
  });
}

}  // namespace iocomp::server
