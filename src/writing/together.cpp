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
  return {.work = [] {}, .end = [](const Outcome& /*outcome*/) {}};
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
          .end = [](const Outcome& /*outcome*/) {}};
}

// Writes only whole steps, because what MPI writes is in the file already.
Act flush(const Together& order, FileWriter& writer, const contents::Contents& contents,
          const contents::Catalogue& catalogue) {
  StepOutput* const steps = writer.whole_steps();
  if (steps == nullptr) {
    return nothing();
  }
  return {.work = [steps, step = order.earlier_steps + order.settled,
                   description = in_file(contents.describe(catalogue, order.settled, order.settled),
                                         order)] { steps->write_step(step, description); },
          .end = [steps](const Outcome& /*outcome*/) { steps->end_step(); }};
}

// A file is ended whatever becomes of it, so that nobody leaves another waiting.
Act finish(const Together& order, FileWriter& writer, const contents::Contents& contents,
           const contents::Catalogue& catalogue) {
  const bool is_one_step = order.number >= 0;
  StepOutput* const steps = is_one_step ? writer.whole_steps() : nullptr;
  return {.work =
              [steps, &writer,
               description = in_file(contents.describe(catalogue, is_one_step ? order.number : 0,
                                                       is_one_step ? order.number : INT64_MAX),
                                     order)] {
                const Outcome written = outcome_of([&] {
                  if (steps != nullptr) {
                    steps->write_step(0, description);
                  }
                });
                const auto closing = writer.file().take_target();
                written.throw_unless_ok();
                formats::finish(closing, description);
              },
          .end =
              [steps](const Outcome& /*outcome*/) {
                if (steps != nullptr) {
                  steps->end_step();
                }
              }};
}

Act discard(const Together& order, FileWriter& writer, const contents::Contents& contents,
            const contents::Catalogue& catalogue) {
  contents::Description kept;
  if (order.number < 0) {
    kept.contents = in_file(contents.describe(catalogue, 0, order.settled - 1), order).contents;
  }
  return {.work =
              [&writer, kept = std::move(kept)] {
                if (auto* const steps = writer.file().steps()) {
                  steps->forget_step();
                }
                formats::finish(writer.file().take_target(), kept);
              },
          .end = [](const Outcome& /*outcome*/) {}};
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
