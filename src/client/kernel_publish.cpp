#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/agreement.h"
#include "client/kernel_carrier.h"
#include "client/link.h"
#include "commit/publication.h"
#include "disk/output_file.h"
#include "trace/counters.h"

namespace iocomp::client {
namespace {

constexpr double publication_share = 20;

}  // namespace

// To publish steps takes rank 0 as long as the disk takes for a small file or two, and nobody does
// it for rank 0: so it takes several steps at once, as many as keep this below a twentieth of its
// time, unless somebody waits. Checkpoints are published one by one.
bool KernelCarrier::is_publication_due() const {
  if (is_closing_) {
    return per_step_;  // the end of the one file tells all
  }
  return is_in_a_hurry_ || per_step_ ||
         now_seconds() - published_at_ > publication_share * publication_seconds_;
}

// A round of places may still make the file of a step in which nobody put anything.
std::int64_t KernelCarrier::publishable() const {
  return setup_.format->offsets_by_layout() ? agreed_ : std::min(agreed_, placed_until_);
}

bool KernelCarrier::tell_verdicts() {
  bool moved = false;
  while (lost_.ok() && (verdict_ || settled_ < agreed_)) {
    if (!verdict_) {
      if (is_first() && (publishable() == settled_ || !is_publication_due())) {
        return moved;
      }
      begin_verdict(is_first() ? publish(per_step_ ? settled_ + 1 : publishable()) : Verdict{});
    }
    if (!verdict_->test()) {
      return moved;
    }
    const Verdict verdict = unpack(verdict_->values());
    if (verdict.until > agreed_) {
      return moved;  // rank 0 has seen the others' agreement before this rank
    }
    verdict_.reset();
    moved = true;
    while (settled_ < verdict.until) {
      settle(settled_, verdict.outcome);
    }
    if (verdict.is_last) {
      end_ = verdict.outcome;
    }
  }
  return moved;
}

void KernelCarrier::begin_verdict(const Verdict& verdict) {
  auto packed = pack_outcome(verdict.outcome);
  packed.insert(packed.end(), {verdict.until, verdict.is_last ? 1 : 0});
  verdict_ = std::make_unique<Collective>();
  verdict_->broadcast(setup_.verdicts, 0, packed);
}

KernelCarrier::Verdict KernelCarrier::unpack(std::vector<std::int64_t> packed) {
  Verdict verdict;
  verdict.is_last = packed.back() != 0;
  packed.pop_back();
  verdict.until = packed.back();
  packed.pop_back();
  verdict.outcome = unpack_outcome(packed);
  return verdict;
}

KernelCarrier::Verdict KernelCarrier::publish(std::int64_t until) {
  const double begin = now_seconds();
  Verdict verdict{until, {}};
  verdict.outcome = in_file(outcome_of([&] {
                              commit::Publication::Job job = prepare_job(until);
                              if (job) {
                                seal(publication_.target_of(until - 1), until - 1, job, per_step_);
                              }
                            }),
                            until - 1);
  published_at_ = now_seconds();
  publication_seconds_ = published_at_ - begin;
  link_.counters().add(trace::Counter::commit_seconds, publication_seconds_);
  return verdict;
}

// The job of the last step tells all; a step that failed is absent.
commit::Publication::Job KernelCarrier::prepare_job(std::int64_t until) {
  commit::Publication::Job job;
  for (std::int64_t step = published(); step < until; ++step) {
    if (!steps_[step].agreed.ok()) {
      dropped_.insert(step);
      publication_.drop_step(step)();
      continue;
    }
    if (per_step_) {
      if (const auto target = files_.at(step).take_format()) {
        target->finish(files_.contents().describe(catalogue_, step, step));
      }
    }
    job = publication_.commit_step(step, files_.contents(), catalogue_);
  }
  return job;
}

void KernelCarrier::seal(std::int64_t target, std::int64_t step,
                         const commit::Publication::Job& job, bool format_wrote) {
  disk::OutputFile& output = *files_.at(target).open();
  const std::int64_t bytes = publication_.bytes(step, files_.contents(), catalogue_);
  std::int64_t durable = durable_end_;
  for (const auto& [number, open] : steps_) {
    durable = publication_.target_of(number) == target && open.agreed.ok()
                  ? std::max(durable, open.end)
                  : durable;
  }
  if (bytes > durable) {  // what ends the file was put by nobody
    output.grow(bytes);
  }
  if (bytes > durable || format_wrote) {
    output.sync();
  }
  job();
}

void KernelCarrier::settle(std::int64_t step, const Outcome& verdict) {
  const Outcome agreed = steps_[step].agreed;
  const Outcome& outcome = agreed.ok() ? verdict : agreed;
  if (!outcome.ok()) {
    fail_step(step, in_file(outcome, step));
  }
  if (per_step_) {
    files_.forget(step);
  } else {
    durable_end_ = std::max(durable_end_, steps_[step].end);
  }
  steps_.erase(step);
  settled_ = step + 1;
  files_.forget_offsets_until(step);
  placed_.erase(placed_.begin(), placed_.lower_bound({settled_, 0}));
  reshaped_.erase(reshaped_.begin(), reshaped_.lower_bound({settled_, 0}));
}

// The last verdict is on the steps that are not settled and on the file: rank 0's work, on which
// all wait.
Outcome KernelCarrier::finish_file() {
  is_closing_ = true;
  const auto wait = [this](const std::function<bool()>& done) {
    link_.wait_until([&] { return done() || !lost_.ok(); }, [&] { return what("the last steps"); });
  };
  const Outcome waited = outcome_of([&] {
    if (per_step_) {
      return wait([&] { return settled_ == ended_; });
    }
    if (is_first()) {
      wait([&] { return !verdict_; });
      begin_verdict({ended_, publish_file(ended_), true});
    }
    wait([&] {
      if (!end_ && !verdict_) {
        begin_verdict({});
      }
      return end_.has_value();
    });
  });
  return waited.ok() ? end_.value_or(lost_) : waited;
}

// With the steps before this one.
Outcome KernelCarrier::publish_file(std::int64_t until) {
  Outcome outcome = in_file(outcome_of([&] {
    (void)prepare_job(until);
    auto target = files_.at(-1).take_format();
    const bool has_format = target != nullptr;
    if (target) {
      target->finish(files_.contents().describe(catalogue_, 0, until));
      target.reset();
    }
    if (has_committed_steps(until)) {
      seal(-1, until - 1, publication_.commit_file(files_.contents(), catalogue_), has_format);
    }
  }));
  if (!outcome.ok() || !has_committed_steps(until)) {
    publication_.abandon_file()();
  }
  return outcome;
}

// Those that rank 0 has published, or dropped, whether or not the others know.
std::int64_t KernelCarrier::published() const {
  return verdict_ ? unpack(verdict_->values()).until : settled_;
}

// The members make different calls from here on: what they have agreed on is kept.
void KernelCarrier::keep_agreed_steps() {
  const std::int64_t until = publishable();
  if (!per_step_ && until > 0) {
    (void)publish_file(until);
  }
  for (std::int64_t step = published(); per_step_ && step < until; ++step) {
    if (const auto job = prepare_job(step + 1)) {
      (void)outcome_of([&] { seal(step, step, job, true); });
    }
  }
}

// A file without any step is one too; one whose steps have all failed is not.
bool KernelCarrier::has_committed_steps(std::int64_t until) const {
  const auto pending = std::ranges::count_if(
      steps_, [until](const auto& step) { return step.first < until && !step.second.agreed.ok(); });
  return until == 0 || static_cast<std::int64_t>(failed_.size()) + pending < until;
}

}  // namespace iocomp::client
