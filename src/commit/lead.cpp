// SPDX-License-Identifier: BSD-3-Clause
#include "commit/lead.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "array/box.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "commit/reports.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "formats/file_system.h"
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
#include "protocol/put_messages.h"
#include "steps/coordinator.h"
#include "steps/coverage.h"
#include "steps/definitions.h"
#include "steps/ends.h"
#include "steps/orders.h"

namespace iocomp::commit {

void Unput::look(const steps::Commit& commit, const contents::Catalogue& catalogue) {
  const std::int64_t all = (commit.last - commit.first + 1) * catalogue.variables();
  if (!catalogue.rules().keeps_first_definitions || std::cmp_equal(commit.contents.size(), all)) {
    return;
  }
  std::set<std::pair<std::int64_t, int>> put;
  for (const auto& content : commit.contents) {
    put.emplace(content.step, content.variable);
  }
  for (std::int64_t step = commit.first; step <= commit.last; ++step) {
    for (int id = 0; id < catalogue.variables(); ++id) {
      if (told_.contains(id) || put.contains({step, id})) {
        continue;
      }
      const contents::Variable variable = catalogue.variable(id, step);
      if (!catalogue.has_one_step(variable)) {
        told_.insert(id);
        log::warning("file \"" + file_ + "\": nobody has put \"" + variable.name + "\" into step " +
                     std::to_string(catalogue.number(step)) +
                     ": other programs find its fill value there, if anything (told once)");
      }
    }
  }
}

using protocol::Kind;

namespace {

// Names the speaker of a sum of reports. Whoever made the sum has named the ranks that differ.
constexpr const char* of_some = "some compute ranks";
// A member that publishes takes the time from its own work. After a commit, it waits for so many
// times as long as that took, unless somebody waits.
constexpr double publication_share = 20;

}  // namespace

steps::Coordinator::Setup Lead::coordination(const Setup& setup, int writers) {
  const formats::Format& format = *setup.publisher.format;
  const bool per_step = setup.publisher.identity.file_per_step;
  const bool whole_steps = format.traits().writes_whole_steps();
  return {.file_name = setup.open.name,
          .members = setup.open.members,
          .writers = writers,
          .file_per_step = per_step,
          .joins_commits = !per_step && format.traits().readable_while_open && !whole_steps,
          .may_overlap = setup.may_overlap,
          .fills_in_turn = whole_steps,
          .asks_writers = setup.writers != Writers::members || whole_steps,
          .fills_gaps = setup.fills_gaps,
          .syncs_last = setup.writers == Writers::waiting_members && !whole_steps,
          .first_step = setup.first_step,
          .committed = setup.committed};
}

Lead::Lead(Setup setup, Means means)
    : setup_{std::move(setup)},
      means_{std::move(means)},
      catalogue_{setup_.publisher.format->rules(setup_.publisher.options),
                 setup_.publisher.options.alignment_bytes, !setup_.publisher.identity.file_per_step,
                 setup_.publisher.options.kept_bits},
      coordinator_{coordination(setup_, means_.council->writers()), catalogue_, *means_.progress},
      publisher_{setup_.publisher, hands(), catalogue_},
      unput_{setup_.open.name} {}

Publisher::Means Lead::hands() {
  using Then = Publisher::Then;
  return {
      .act = [this](steps::Action action, std::int64_t step, std::int64_t settled,
                    Then then) { act(action, step, settled, std::move(then)); },
      .run = [this](Publication::Job job,
                    Then then) { run_timed(std::move(job), std::move(then)); },
      .publishing = [this](std::int64_t step) { means_.note(protocol::Note::publishing, step); },
      .dropping = [this](std::int64_t step) { means_.note(protocol::Note::dropped, step); }};
}

// `then` needs the lead, even if the file could not be opened. So jobs under way are counted.
void Lead::run(Publication::Job job, Publisher::Then then) {
  ++jobs_;
  means_.run(std::move(job), [this, then = std::move(then)](const Outcome& outcome) {
    --jobs_;
    then(outcome);
  });
}

// Runs a job of the publisher. The time of the job counts for the commit, and not the time until
// its end was noticed.
void Lead::run_timed(Publication::Job job, Publisher::Then then) {
  const auto seconds = std::make_shared<double>(0);
  const auto timed = [job = std::move(job), seconds] {
    const double begin = now_seconds();
    job();
    *seconds = now_seconds() - begin;
  };
  pace_.spent += now_seconds() - pace_.since;
  run(timed, [this, seconds, then = std::move(then)](const Outcome& outcome) {
    pace_.spent += *seconds;
    pace_.since = now_seconds();
    then(outcome);
  });
}

template <typename Record>
void Lead::tell(Kind kind, const Record& record) {
  means_.council->to_all(protocol::encode(setup_.key, kind, record));
}

void Lead::opened(const Outcome& outcome) {
  if (outcome.ok()) {
    means_.note(protocol::Note::opened, 0);
  } else {
    over_ = true;
    publisher_.abandon();
    publisher_.release();
    means_.note(protocol::Note::refused, static_cast<std::int64_t>(outcome.code));
  }
  tell(Kind::opened, protocol::Opened{outcome, setup_.open.domain_bytes, setup_.open.beginning});
}

void Lead::start() {
  const Outcome prepared = outcome_of([this] {
    setup_.open.beginning = publisher_.prepare();
    setup_.open.domain_bytes = formats::domain_bytes_in(publisher_.path().folder(),
                                                        setup_.publisher.options.alignment_bytes);
    catalogue_.begin_at(setup_.open.beginning);
  });
  if (!prepared.ok()) {
    opened(prepared);
    return;
  }
  const auto known = protocol::encode(setup_.key, Kind::known_file, setup_.open);
  if (setup_.publisher.identity.file_per_step) {
    means_.council->to_all(known);
    opened({});
  } else if (publisher_.is_plain()) {
    // The file is created before others hear of it, because they open it at once.
    publisher_.start(-1, [&](const Outcome& outcome) {
      if (outcome.ok()) {
        means_.council->to_all(known);
      }
      opened(outcome);
    });
  } else {
    means_.council->to_all(known);
    publisher_.start(-1, [this](const Outcome& outcome) { opened(outcome); });
  }
}

void Lead::open(const protocol::Open& open) {
  const std::string what =
      different_open(setup_.open, open, "compute rank " + std::to_string(open.opener));
  if (!what.empty()) {
    fail(steps::different_calls(setup_.open.name, what), 0);
  }
}

void Lead::event(const protocol::Event& event) {
  switch (definitions_.say(event.sequence, event.caller, event.what)) {
    case steps::Definitions::Said::again:
      return;
    case steps::Definitions::Said::different: {
      const auto difference = definitions_.difference(event.sequence, event.caller, event.what);
      fail(steps::different_calls(setup_.open.name, difference.what), difference.from_step);
      return;
    }
    case steps::Definitions::Said::first:
      break;
  }
  const auto defined = contents::decode_event(event.what);
  const Outcome applied = outcome_of([&] { catalogue_.apply(defined); });
  if (applied.ok() && defined.what == contents::Event::What::set_shape) {
    publisher_.forget_place(defined.step, defined.variable);  // it was for another shape
  }
  if (applied.ok() && setup_.writers == Writers::servers) {
    tell(Kind::known_event, event);
  } else if (!applied.ok()) {
    fail(applied, defined.step);
  }
}

void Lead::act(steps::Action action, std::int64_t step, std::int64_t settled,
               Publisher::Then then) {
  protocol::ActionNote note;
  note.action = action;
  note.number = next_action_++;
  note.step = step;
  note.named = step < 0 ? step : catalogue_.number(step);
  note.settled = settled;
  actions_[note.number].then = std::move(then);
  tell(Kind::action, note);
}

void Lead::action_done(const protocol::ActionNote& note) {
  Action& action = actions_.at(note.number);
  if (!note.outcome.ok() && action.outcome.ok()) {
    action.outcome = note.outcome;
  }
  action.writers += note.writers;
  if (action.writers == means_.council->writers()) {
    const Action done = std::move(action);
    actions_.erase(note.number);
    done.then(done.outcome);
    take_orders();
  }
}

protocol::Bytes Lead::placed(std::int64_t step, int variable, std::int64_t offset,
                             const Outcome& outcome) const {
  return protocol::encode(setup_.key, Kind::placed,
                          protocol::StepNote{step, variable, offset, outcome, catalogue_.events()});
}

void Lead::want_place(const protocol::StepNote& note) {
  const auto answer = [=, this](std::int64_t offset, const Outcome& outcome) {
    means_.council->to_all(placed(note.step, note.variable, offset, outcome));
  };
  if (coordinator_.is_lost(note.step)) {
    answer(-1, coordinator_.failure());  // the target may be closed by now
  } else {
    publisher_.place(note.step, note.variable, answer);
  }
}

// Successive steps mostly put the same variables. So the places of the next step are told together
// with those of this one, and its blocks can go at once. The file was started before any step, so
// each variable is placed within the call.
void Lead::place_ahead(const protocol::StepCounts& counts) {
  const bool is_useful = setup_.writers != Writers::servers &&
                         setup_.publisher.format->traits().has_to_place() &&
                         !setup_.publisher.identity.file_per_step;
  std::vector<protocol::Bytes> orders;
  for (auto put = counts.variables.begin(); is_useful && put != counts.variables.end(); ++put) {
    const std::int64_t step = counts.step + 1;
    const int variable = put->first;
    publisher_.place(step, variable, [&](std::int64_t offset, const Outcome& outcome) {
      if (outcome.ok()) {
        orders.push_back(placed(step, variable, offset, outcome));
      } else {  // told to those who ask for the place
        publisher_.forget_place(step, variable);
      }
    });
  }
  if (!orders.empty()) {
    means_.council->to_all(orders);
  }
}

// Places variables without elements. They have no pieces, for which a writer would ask for a place.
void Lead::place_what_is_empty(const protocol::StepCounts& counts) {
  for (const auto& [variable, cover] : counts.variables) {
    const bool is_known = variable < catalogue_.variables();
    if (is_known && cover.elements == 0 &&
        array::elements(catalogue_.variable(variable, counts.step).shape) == 0) {
      want_place({counts.step, variable, counts.events, {}});
    }
  }
}

void Lead::step_ended(const protocol::StepCounts& counts) {
  place_what_is_empty(counts);
  if (!coordinator_.is_lost(counts.step + 1)) {
    place_ahead(counts);
  }
  coordinator_.ended(counts, of_some);
  take_orders();
}

void Lead::closed(const protocol::StepCounts& counts) {
  place_what_is_empty(counts);
  coordinator_.closed(counts, of_some);
  take_orders();
}

void Lead::put_report(protocol::PutReport report) {
  coordinator_.put(report.step, std::move(report.puts));
}

void Lead::step_done(const protocol::StepNote& note) {
  coordinator_.done(note.step, note.outcome, static_cast<int>(note.number));
  take_orders();
}

void Lead::take(Kind kind, std::span<const std::byte> body) {
  switch (kind) {
    case Kind::home_event:
      return event(protocol::decode<protocol::Event>(body));
    case Kind::want_place:
      return want_place(protocol::decode<protocol::StepNote>(body));
    case Kind::home_step:
      return step_ended(protocol::decode<protocol::StepCounts>(body));
    case Kind::step_done:
      return step_done(protocol::decode<protocol::StepNote>(body));
    case Kind::put_report:
      return put_report(protocol::decode<protocol::PutReport>(body));
    case Kind::home_close:
      return closed(protocol::decode<protocol::StepCounts>(body));
    case Kind::action_done:
      return action_done(protocol::decode<protocol::ActionNote>(body));
    case Kind::flush:
      return hurry(protocol::decode<protocol::StepNote>(body).step);
    case Kind::home_other:
      return heard_of(protocol::decode<protocol::Other>(body));
    case Kind::home_failed: {
      const auto note = protocol::decode<protocol::StepNote>(body);
      return fail(note.outcome, note.step);
    }
    default:
      throw Error{ErrorCode::internal, "a lead got a message of another kind"};
  }
}

void Lead::fail(const Outcome& outcome, std::int64_t from_step) {
  coordinator_.failed(outcome, from_step);
  take_orders();
}

// A file that was refused takes no orders, because it would be published in the place of another.
void Lead::take_orders() {
  while (auto order = over_ ? std::nullopt : coordinator_.next_order()) {
    std::visit([this](const auto& one) { obey(one); }, *order);
  }
}

void Lead::obey(const steps::Expect& order) {
  definitions_.shorten(order.step);
  if (setup_.writers != Writers::servers) {  // writers know the number of their pieces
    tell(Kind::expect, protocol::Expectation{order.step, 0, order.report, order.ends_stripes});
    return;
  }
  std::vector<protocol::Bytes> messages;
  for (const std::int64_t pieces : order.pieces) {
    messages.push_back(protocol::encode(setup_.key, Kind::expect,
                                        protocol::Expectation{order.step, pieces, order.report}));
  }
  means_.council->to_each(std::move(messages));
}

// Asks for the places of the variables itself, because nobody has put them and asked.
void Lead::obey(const steps::Fill& order) {
  if (order.has_values) {
    publisher_.note_values(order.step);
  }
  for (const auto& [variable, runs] : order.holes) {
    want_place({order.step, variable, catalogue_.events(), {}});
  }
  publisher_.start_for(order.step, [this, order](const Outcome& /*told with the places*/) {
    const int writers = means_.council->writers();
    std::vector<protocol::Bytes> messages;
    for (int writer = 0; writer < writers; ++writer) {
      messages.push_back(protocol::encode(
          setup_.key, Kind::fill,
          protocol::FillOrder{order.step, steps::share(order.holes, writer, writers)}));
    }
    means_.council->to_each(std::move(messages));
  });
}

void Lead::obey(const steps::Sync& order) {
  tell(Kind::sync, protocol::StepNote{order.step, -1, 0, {}});
}

void Lead::obey(const steps::Settle& order) {
  publisher_.settle(order.step);
  tell(Kind::step_settled, protocol::StepNote{order.step, -1, 0, order.outcome});
}

void Lead::obey(const steps::Fail& order) {
  means_.failed();
  tell(Kind::file_failed, protocol::StepNote{order.from_step, -1, 0, order.outcome});
}

void Lead::obey(const steps::Closed& order) {
  if (const auto begun = publisher_.begun_by_all(); begun && !order.outcome.ok()) {
    publisher_.drop(*begun, coordinator_.next_step(), [=, this](const Outcome&) {
      publisher_.settle(*begun);
      obey(order);
    });
    return;
  }
  over_ = true;
  publisher_.release();
  if (!order.outcome.ok() && publisher_.is_plain()) {
    publisher_.abandon();
  }
  means_.note(order.outcome.ok() ? protocol::Note::closed : protocol::Note::failed_closed, 0);
  tell(Kind::file_closed, order.outcome);
}

void Lead::obey(const steps::Look& order) {
  run([questions = order.questions] { std::ranges::for_each(*questions, steps::answer); },
      [this, order](const Outcome& outcome) {
        coordinator_.looked(order.step, *order.questions, outcome);
        take_orders();
      });
}

void Lead::obey(const steps::Commit& order) {
  pace_.spent = 0;
  pace_.since = now_seconds();
  if (!setup_.publisher.identity.file_per_step) {
    unput_.look(order, catalogue_);
  }
  publisher_.commit(
      order, coordinator_.next_step(), [this, last = order.last](const Outcome& outcome) {
        // Steps that are written as a whole share no commit.
        const bool is_paced = setup_.writers == Writers::members &&
                              !setup_.publisher.identity.file_per_step &&
                              !setup_.publisher.format->traits().writes_whole_steps() &&
                              last + 1 >= pace_.urgent_until;
        if (is_paced) {
          pace_.next = now_seconds() + publication_share * pace_.spent;
          pace_.is_held = true;
          coordinator_.hold_commits(true);
        }
        coordinator_.committed(outcome);
        take_orders();
      });
}

void Lead::obey(const steps::Drop& order) {
  publisher_.drop(order.step, coordinator_.next_step(), [this](const Outcome&) {
    coordinator_.dropped();
    take_orders();
  });
}

void Lead::obey(const steps::Finish& order) {
  publisher_.finish(order, coordinator_.next_step(), [this](const Outcome& outcome) {
    coordinator_.finished(outcome);
    take_orders();
  });
}

void Lead::hurry(std::int64_t step) {
  pace_.urgent_until = std::max(pace_.urgent_until, step + 1);
  pace_.next = 0;
  (void)advance();
}

void Lead::hold_commits(bool hold) {
  coordinator_.hold_commits(hold);
  take_orders();
}

void Lead::heard_of(const protocol::Other& other) {
  means_.progress->heard(other.file, other.standing);
  (void)advance();
}

bool Lead::advance() {
  bool moved = false;
  if (const auto version = means_.progress->version(); heard_ != version) {
    heard_ = version;
    coordinator_.others_moved();
    take_orders();
    moved = true;
  }
  if (!pace_.is_held || now_seconds() < pace_.next) {
    return moved;
  }
  pace_.is_held = false;
  coordinator_.hold_commits(false);
  take_orders();
  return true;
}

}  // namespace iocomp::commit
