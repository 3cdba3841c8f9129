// SPDX-License-Identifier: BSD-3-Clause
#include "world.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/region.h"
#include "contents/catalogue.h"
#include "contents/rules.h"
#include "contents/variable.h"
#include "steps/coordinator.h"
#include "steps/coverage.h"
#include "steps/ended.h"
#include "steps/orders.h"
#include "steps/put_log.h"

namespace iocomp::steps {
namespace {

constexpr std::int64_t extent = 8;
enum Pattern : std::uint8_t { whole, with_holes, overlapping, none };

// "plain" holds zeros where nobody puts anything, "filled" must be filled.
const contents::Catalogue& catalogue() {
  static const contents::Catalogue made = [] {
    contents::Catalogue two{{}, 1, true};
    for (const char* name : {"plain", "filled"}) {
      contents::Event event;
      event.what = contents::Event::What::define;
      event.name = name;
      event.type = array::ElementType::int64;
      event.shape = array::Shape{1, {extent}};
      two.apply(event);
    }
    contents::Event fill;
    fill.what = contents::Event::What::attribute;
    fill.variable = 1;
    fill.name = contents::fill_attribute;
    fill.attribute.type = array::ElementType::int64;
    fill.attribute.values.assign(sizeof(std::int64_t), std::byte{7});
    two.apply(fill);
    return two;
  }();
  return made;
}

}  // namespace

World::World(std::uint64_t seed, bool tells) : state_{seed}, tells_{tells} {
  setup_.file_name = "f";
  setup_.members = 1 + static_cast<std::int64_t>(random(most_members));
  setup_.writers = 1 + static_cast<int>(random(3));
  setup_.file_per_step = chance(3);
  setup_.joins_commits = !setup_.file_per_step && chance(2);
  setup_.may_overlap = chance(4);
  setup_.asks_writers = !chance(3);
  setup_.syncs_last = chance(3);
  setup_.fills_gaps = chance(2);
  if (!setup_.asks_writers) {
    setup_.writers = static_cast<int>(setup_.members);
  }
  can_crash_ = chance(3);
  make_plan();
  start(0, 0);
}

// splitmix64
std::uint64_t World::random(std::uint64_t below) {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t value = state_;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return (value ^ (value >> 31U)) % below;
}

void World::make_plan() {
  const auto number = static_cast<std::int64_t>(random(most_steps + 1));
  ends_.fill(number);
  if (chance(6)) {  // one makes another number of calls
    auto& odd = ends_.at(random(static_cast<std::uint64_t>(setup_.members)));
    odd = std::max<std::int64_t>(0, odd + (chance(2) ? 1 : -1));
  }
  const bool is_plain = chance(2);
  for (auto& step : steps_) {
    step.has_stripes = chance(3);
    for (auto& pattern : step.pattern) {
      const std::uint64_t drawn = is_plain ? 0 : random(12);
      pattern = drawn < 8 ? whole : drawn < 10 ? with_holes : drawn == 10 ? overlapping : none;
    }
  }
  if (chance(2)) {  // nothing comes before
    return;
  }
  other_fails_ = chance(4) ? static_cast<std::int64_t>(random(steps_of_other)) : steps_of_other;
  std::int64_t before = 0;
  for (auto& step : steps_) {
    before = std::min<std::int64_t>(before + static_cast<std::int64_t>(random(3)), steps_of_other);
    step.comes_after = before;
  }
}

void World::start(std::int64_t first_step, std::int64_t committed) {
  setup_.first_step = first_step;
  setup_.committed = committed;
  coordinator_ = std::make_unique<Coordinator>(setup_, catalogue(), progress_);
  const auto members = static_cast<std::size_t>(setup_.members);
  queues_.assign(members + static_cast<std::size_t>(setup_.writers) + 2, {});
  for (std::int64_t step = other_settled_; step < steps_of_other; ++step) {
    queues_[queues_.size() - 2].reports.push_back({Kind::other, step, step == other_fails_});
  }
  next_settled_ = first_step;
  for (std::size_t member = 0; member < members; ++member) {
    for (std::int64_t step = first_step; step < ends_.at(member); ++step) {
      queues_[member].reports.push_back({Kind::end, step});
    }
    queues_[member].reports.push_back({Kind::close, ends_.at(member)});
    for (std::int64_t step = first_step; !setup_.asks_writers && step < ends_.at(member); ++step) {
      queues_[members + member].reports.push_back({Kind::done, step, chance(60)});
    }
  }
}

// All servers have ended: the members write for themselves, under a coordinator that knows only
// what the disk tells, and report again what is not settled.
void World::take_over() {
  tell("the servers end");
  std::int64_t first = 0;
  std::int64_t committed = 0;
  for (; first < std::ssize(steps_) && at(first).is_settled; ++first) {
    committed += at(first).fate == Fate::committed ? 1 : 0;
  }
  for (auto& step : steps_) {
    if (!step.is_settled) {
      step = Step{.pattern = step.pattern,
                  .comes_after = step.comes_after,
                  .has_stripes = step.has_stripes};
    }
  }
  has_failed_ = false;
  setup_.writers = static_cast<int>(setup_.members);
  setup_.asks_writers = false;
  setup_.syncs_last = false;
  start(first, committed);
}

array::Box World::box(int member, std::size_t variable, std::int64_t step) const {
  const auto members = setup_.members;
  std::int64_t begin = extent * member / members;
  std::int64_t end = extent * (member + 1) / members;
  const auto pattern = steps_.at(static_cast<std::size_t>(step)).pattern.at(variable);
  if (pattern == overlapping && member > 0) {
    --begin;
  } else if (pattern == with_holes && member == members - 1) {
    --end;
  }
  return array::Box{1, {begin}, {end - begin}};
}

Ended World::ended(int member, std::int64_t step) const {
  Ended said{step, 3, 1, {{member % setup_.writers, 1}}, {}};
  const array::Shape shape{1, {extent}};
  for (std::size_t variable = 0; variable < 2; ++variable) {
    if (steps_.at(static_cast<std::size_t>(step)).pattern.at(variable) != none) {
      said.variables.add(static_cast<std::int32_t>(variable),
                         array::cover_of(shape, box(member, variable, step)));
    }
  }
  said.unclaimed = member == 0 && steps_.at(static_cast<std::size_t>(step)).has_stripes ? 1 : 0;
  // Some members have ended fewer steps of the other file.
  const std::int64_t before = steps_.at(static_cast<std::size_t>(step)).comes_after;
  if (before > member % 2) {
    said.predecessors = {{1, "g", before - member % 2}};
  }
  return said;
}

std::vector<PutRecord> World::puts(int writer, const Report& report) const {
  std::vector<PutRecord> records;
  for (int member = writer; member < setup_.members; member += setup_.writers) {
    for (const auto variable : report.variables) {
      const auto where = box(member, static_cast<std::size_t>(variable), report.step);
      records.push_back({variable, member, {where, 0, array::elements(where)}});
    }
  }
  return records;
}

std::string World::run() {
  for (int events = 0; wrong_.empty() && events < 10000; ++events) {
    if (can_crash_ && !is_closed_ && chance(40)) {
      can_crash_ = false;
      auto& own = queues_.back();
      if (!own.is_empty() && own.reports[own.next].kind == Kind::committed && chance(2)) {
        deliver(static_cast<int>(queues_.size()) - 1);  // it was on disk, and nobody was told
      } else if (!own.is_empty()) {
        own.reports.clear();
        own.next = 0;
      }
      if (!is_closed_) {
        take_over();
      }
    }
    if (dead_ < 0 && chance(400)) {
      dead_ = static_cast<int>(random(static_cast<std::uint64_t>(setup_.members)));
      queues_[static_cast<std::size_t>(dead_)] = {};
      tell("member " + std::to_string(dead_) + " dies");
    }
    const std::size_t begin = random(queues_.size());
    std::size_t tried = 0;
    while (tried < queues_.size() && queues_[(begin + tried) % queues_.size()].is_empty()) {
      ++tried;
    }
    if (tried == queues_.size()) {
      check_end();
      return wrong_;
    }
    deliver(static_cast<int>((begin + tried) % queues_.size()));
  }
  return wrong_.empty() ? "it does not end" : wrong_;
}

void World::deliver(int participant) {
  auto& queue = queues_[static_cast<std::size_t>(participant)];
  const Report report = std::move(queue.reports[queue.next++]);
  const Outcome outcome =
      report.has_failed ? Outcome{ErrorCode::storage_failure, "no room"} : Outcome{};
  const int writer = participant - static_cast<int>(setup_.members);
  const std::string who = "member " + std::to_string(participant);
  switch (report.kind) {
    case Kind::end:
      tell(who + " ends step " + std::to_string(report.step));
      at(report.step).ended |= 1U << static_cast<unsigned>(participant);
      coordinator_->ended(ended(participant, report.step), who);
      break;
    case Kind::close:
      tell(who + " closes");
      coordinator_->closed({report.step, 3, 1, {}, {}}, who);
      break;
    case Kind::puts:
      tell("writer " + std::to_string(writer) + " tells puts of " + std::to_string(report.step));
      coordinator_->put(report.step, puts(writer, report));
      break;
    case Kind::done: {
      tell("writer " + std::to_string(writer) + " is done with " + std::to_string(report.step) +
           (report.has_failed ? ", it failed" : ""));
      Step& step = at(report.step);
      step.durable += report.has_failed ? 0 : 1;
      step.has_failed = step.has_failed || report.has_failed;
      coordinator_->done(report.step, outcome);
      break;
    }
    case Kind::looked:
      coordinator_->looked(report.step, *report.questions, {});
      break;
    case Kind::committed:
      tell(report.has_failed ? "the commit failed" : "committed");
      if (report.has_failed) {
        for (auto& step : steps_) {
          step.has_failed = step.has_failed || step.fate == Fate::committed;
          if (step.fate == Fate::committed && !step.is_settled) {
            step.fate = Fate::open;
          }
        }
      }
      coordinator_->committed(outcome);
      break;
    case Kind::dropped:
      coordinator_->dropped();
      break;
    case Kind::other:
      tell("step " + std::to_string(report.step) + " of the other file is " +
           (report.has_failed ? "lost" : "committed"));
      other_settled_ = report.step + 1;
      progress_.settled(1, report.step, outcome);
      coordinator_->others_moved();
      break;
    case Kind::finished:
      coordinator_->finished(outcome);
      break;
  }
  if (chance(8)) {
    coordinator_->hold_commits(chance(2));
  }
  take_orders();
}

void World::take_orders() {
  while (auto order = coordinator_->next_order()) {
    if (is_closed_) {
      wrong("an order after the end");
      return;
    }
    std::visit([this](const auto& one) { obey(one); }, *order);
  }
}

void World::obey(const Expect& order) {
  const std::size_t first = static_cast<std::size_t>(setup_.members);
  const bool ends_stripes = order.ends_stripes && at(order.step).has_stripes;
  if (!setup_.asks_writers && order.report.empty() && !ends_stripes) {
    wrong("writers are asked that report unasked");
  }
  if (at(order.step).are_stripes_ended) {
    wrong("stripes end twice, or before puts are known");
  }
  at(order.step).are_stripes_ended = order.ends_stripes;
  at(order.step).durable = 0;
  for (std::size_t writer = 0; writer < order.pieces.size(); ++writer) {
    auto& queue = queues_[first + writer].reports;
    if (!order.report.empty()) {
      queue.push_back({Kind::puts, order.step, false, order.report});
    }
    const bool fails = setup_.asks_writers && order.pieces[writer] > 0 && chance(60);
    queue.push_back({Kind::done, order.step, fails});
  }
}

void World::obey(const Fill& order) {
  tell("fill step " + std::to_string(order.step));
  Step& step = at(order.step);
  const bool fills_gaps = setup_.fills_gaps && !setup_.asks_writers && step.has_stripes;
  const int holes = step.pattern[1] == with_holes ? 1 : 0;
  // Nobody looks for overlaps of "plain" where they may be.
  const int gaps = fills_gaps && !setup_.may_overlap && step.pattern[0] == with_holes ? 1 : 0;
  if (!setup_.asks_writers && step.are_stripes_ended) {
    wrong("stripes ended before they could become full");
  }
  step.is_filled = true;
  step.durable = 0;
  std::int64_t filled = 0;
  for (int writer = 0; writer < setup_.writers; ++writer) {
    for (const auto& [variable, runs] : share(order.holes, writer, setup_.writers)) {
      filled += runs->elements();
    }
    const bool fails = chance(60);
    queues_[static_cast<std::size_t>(setup_.members + writer)].reports.push_back(
        {Kind::done, order.step, fails});
  }
  if (filled != holes + gaps || filled == 0) {
    wrong("other holes than those that are there");
  }
}

void World::obey(const Sync& order) {
  tell("sync step " + std::to_string(order.step));
  Step& step = at(order.step);
  if (!setup_.syncs_last || step.is_synced || must_fail(step)) {
    wrong("a step is made durable that should not, or twice");
  }
  step.is_synced = true;
  step.durable = 0;
  for (int writer = 0; writer < setup_.writers; ++writer) {
    const bool fails = chance(60);
    queues_[static_cast<std::size_t>(setup_.members + writer)].reports.push_back(
        {Kind::done, order.step, fails});
  }
}

void World::obey(const Look& order) {
  for (auto& question : *order.questions) {
    answer(question);
  }
  at(order.step).was_looked_at = true;
  queues_.back().reports.push_back({Kind::looked, order.step, false, {}, order.questions});
}

bool World::must_fail(const Step& step) const {
  const bool overlaps =
      !setup_.may_overlap && setup_.members > 1 &&
      std::ranges::any_of(step.pattern, [](auto pattern) { return pattern == overlapping; });
  return step.has_failed || overlaps;
}

void World::check_commit(std::int64_t number) {
  const Step& step = at(number);
  const auto where = " of step " + std::to_string(number);
  if (step.fate != Fate::open) {
    wrong("a second fate" + where);
  }
  if (step.ended != (1U << static_cast<unsigned>(setup_.members)) - 1U) {
    wrong("a commit before the end" + where);
  }
  if (step.durable < setup_.writers) {
    wrong("a commit of what is not durable" + where);
  }
  if (setup_.syncs_last && !step.is_synced) {
    wrong("a commit of what was only written" + where);
  }
  if (must_fail(step)) {
    wrong("a commit of what failed" + where);
  }
  if (step.comes_after > std::min(other_settled_, other_fails_)) {
    wrong("a commit before that of the other file" + where);
  }
  if (step.pattern[1] == with_holes && !step.is_filled) {
    wrong("a commit of what is not filled" + where);
  }
  if (!setup_.asks_writers && step.has_stripes && !step.are_stripes_ended) {
    wrong("a commit of what waits in stripes" + where);
  }
}

void World::obey(const Commit& order) {
  tell("commit " + std::to_string(order.first) + " to " + std::to_string(order.last));
  if (order.last > order.first && !setup_.joins_commits) {
    wrong("several steps in one commit");
  }
  std::size_t variables = 0;
  for (auto step = order.first; step <= order.last; ++step) {
    check_commit(step);
    at(step).fate = Fate::committed;
    variables += static_cast<std::size_t>(
        std::ranges::count_if(at(step).pattern, [](auto pattern) { return pattern != none; }));
  }
  if (order.contents.size() != variables) {
    wrong("a commit of other variables than were put");
  }
  const bool fails = chance(60);
  queues_.back().reports.push_back({Kind::committed, order.last, fails});
}

void World::obey(const Drop& order) {
  tell("drop " + std::to_string(order.step));
  Step& step = at(order.step);
  if (step.fate != Fate::open) {
    wrong("a drop of what has its fate");
  }
  if (!must_fail(step) && step.comes_after <= other_fails_ && !has_failed_) {
    wrong("a good step is dropped");
  }
  step.fate = Fate::dropped;
  queues_.back().reports.push_back({Kind::dropped, order.step});
}

void World::obey(const Settle& order) {
  tell("settle " + std::to_string(order.step));
  Step& step = at(order.step);
  if (order.step < next_settled_ || step.is_settled) {
    wrong("steps settle out of order");
  }
  next_settled_ = order.step + 1;
  step.is_settled = true;
  if (order.outcome.ok() != (step.fate == Fate::committed) || step.fate == Fate::open) {
    wrong("a step settles as what it is not");
  }
  commits_ += order.outcome.ok() ? 1 : 0;
}

void World::obey(const Fail& order) {
  tell("fail from step " + std::to_string(order.from_step));
  has_failed_ = true;
}

void World::obey(const Finish& order) {
  const auto committed = std::ranges::count(steps_, Fate::committed, &Step::fate);
  if (setup_.file_per_step ||
      order.is_kept != (committed > 0 || (order.steps == 0 && !has_failed_))) {
    wrong("a file ends that should not, or as it should not");
  }
  queues_.back().reports.push_back({Kind::finished, 0});
}

void World::obey(const Closed& order) {
  tell("closed");
  is_closed_ = true;
  if (order.outcome.ok() == has_failed_) {
    wrong("the end hides a failure, or makes one up");
  }
}

// Everybody has said what it will ever say.
void World::check_end() {
  const auto [least, most] = std::minmax_element(ends_.begin(), ends_.begin() + setup_.members);
  if (dead_ < 0 && !is_closed_) {
    wrong("the file is never closed");
  }
  if (dead_ < 0 && has_failed_ != (*least != *most)) {
    wrong("a failure of the file without a cause, or a cause without");
  }
  for (std::int64_t number = 0; dead_ < 0 && number < *least; ++number) {
    const Step& step = at(number);
    if (!step.is_settled && step.fate == Fate::open) {
      wrong("step " + std::to_string(number) + " has no end");
    } else if (step.fate != Fate::committed && !must_fail(step) &&
               step.comes_after <= other_fails_) {
      wrong("step " + std::to_string(number) + " of all members is lost");
    }
  }
}

void World::wrong(const std::string& what) {
  tell("WRONG: " + what);
  if (wrong_.empty()) {
    wrong_ = what;
  }
}

void World::tell(const std::string& what) {
  if (tells_) {
    log_ += what + '\n';
  }
}

}  // namespace iocomp::steps
