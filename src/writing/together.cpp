// SPDX-License-Identifier: BSD-3-Clause
#include "writing/together.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/description.h"
#include "formats/format.h"
#include "steps/orders.h"
#include "writing/file_writer.h"
#include "writing/physical_file.h"
#include "writing/step_output.h"

namespace iocomp::writing {
namespace {

Act nothing() {
  return {.work = [] {}, .end = [](const Outcome& outcome) { return outcome; }};
}

// Returns the outcome of both, the second of which is the owner's.
Outcome and_then(const Outcome& outcome, const std::function<void()>& next) {
  return outcome.ok() ? outcome_of(next) : outcome;
}

// The description with the steps as the file of all steps numbers them.
contents::Description in_file(contents::Description description, const Together& order) {
  for (auto& placed : description.contents) {
    placed.step += order.earlier_steps;
  }
  return description;
}

Act create(FileWriter& writer, std::function<formats::Target()> create) {
  return {.work =
              [&writer, create = std::move(create)] {
                writer.file().created(create());
                if (writer.whole_steps() == nullptr) {
                  (void)writer.file().open();
                }
              },
          .end =
              [&writer](const Outcome& created) {
                Outcome outcome = and_then(created, [&] {
                  if (auto* const steps = writer.file().steps()) {
                    steps->begin();
                  }
                });
                if (!outcome.ok()) {
                  (void)writer.file().take_target();
                }
                return outcome;
              }};
}

// Writes only whole steps, because what MPI writes is in the file already.
Act flush(const Together& order, FileWriter& writer, const contents::Contents& contents,
          const contents::Catalogue& catalogue) {
  StepOutput* const steps = writer.whole_steps();
  if (steps == nullptr) {
    return nothing();
  }
  steps->begin_step(order.earlier_steps + order.settled,
                    in_file(contents.describe(catalogue, order.settled, order.settled), order));
  return {.work = [steps] { steps->write_step(); },
          .end = [steps](const Outcome& written) { return steps->end_step(written); }};
}

// The target is closed, or given up, by the owner.
struct Ending {
  formats::Target target{};
  contents::Description description{};
};

// A file is ended whatever becomes of it, so that nobody leaves another waiting.
Act finish(const Together& order, FileWriter& writer, const contents::Contents& contents,
           const contents::Catalogue& catalogue) {
  const bool is_one_step = order.number >= 0;
  const std::int64_t first = is_one_step ? order.number : 0;
  const std::int64_t last = is_one_step ? order.number : INT64_MAX;
  const auto ending = std::make_shared<Ending>(
      Ending{.description = in_file(contents.describe(catalogue, first, last), order)});
  StepOutput* const steps = is_one_step ? writer.whole_steps() : nullptr;
  if (steps != nullptr) {
    steps->begin_step(0, ending->description);
  }
  return {.work =
              [steps, ending, &writer] {
                const Outcome written = outcome_of([&] {
                  if (steps != nullptr) {
                    steps->write_step();
                  }
                });
                ending->target = writer.file().take_target();
                written.throw_unless_ok();
                formats::finish(ending->target, ending->description);
              },
          .end =
              [steps, ending](const Outcome& finished) {
                const Outcome outcome = steps == nullptr ? finished : steps->end_step(finished);
                const auto target = std::exchange(ending->target, {});
                return and_then(outcome, [&] { formats::close(target, ending->description); });
              }};
}

Act discard(const Together& order, FileWriter& writer, const contents::Contents& contents,
            const contents::Catalogue& catalogue) {
  const auto ending = std::make_shared<Ending>();
  if (order.number < 0) {
    ending->description.contents =
        in_file(contents.describe(catalogue, 0, order.settled - 1), order).contents;
  }
  if (auto* const steps = writer.file().steps()) {
    steps->forget_step();
  }
  ending->target = writer.file().take_target();
  return {.work = [ending] { formats::finish(ending->target, ending->description); },
          .end =
              [ending](const Outcome& finished) {
                const auto target = std::exchange(ending->target, {});
                return and_then(finished, [&] { formats::close(target, ending->description); });
              }};
}

}  // namespace

Act act_of(const Together& order, FileWriter& writer, const contents::Contents& contents,
           const contents::Catalogue& catalogue, std::function<formats::Target()> create) {
  if (order.action == steps::Action::create) {
    return writing::create(writer, std::move(create));
  }
  if (!writer.file().has_target()) {
    return nothing();  // it could not be created
  }
  if (order.action == steps::Action::flush) {
    return flush(order, writer, contents, catalogue);
  }
  return order.action == steps::Action::finish ? finish(order, writer, contents, catalogue)
                                               : discard(order, writer, contents, catalogue);
}

}  // namespace iocomp::writing
