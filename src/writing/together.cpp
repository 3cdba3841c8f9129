// SPDX-License-Identifier: BSD-3-Clause
#include "writing/together.h"

#include <cstdint>
#include <functional>
#include <memory>

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

// The description with the steps as the file of all steps numbers them.
contents::Description in_file(contents::Description description, const Together& order) {
  for (auto& placed : description.contents) {
    placed.step += order.earlier_steps;
  }
  return description;
}

// Writes only whole steps, because what MPI writes is in the file already.
void flush(const Together& order, FileWriter& writer, const contents::Contents& contents,
           const contents::Catalogue& catalogue) {
  if (writer.whole_steps() != nullptr) {
    writer.whole_steps()->write_step(
        order.earlier_steps + order.settled,
        in_file(contents.describe(catalogue, order.settled, order.settled), order));
  }
}

// A file is ended whatever becomes of it, so that nobody leaves another waiting.
void finish(const Together& order, FileWriter& writer, const contents::Contents& contents,
            const contents::Catalogue& catalogue) {
  const bool is_one_step = order.number >= 0;
  const auto description = in_file(contents.describe(catalogue, is_one_step ? order.number : 0,
                                                     is_one_step ? order.number : INT64_MAX),
                                   order);
  const Outcome written = outcome_of([&] {
    if (is_one_step && writer.whole_steps() != nullptr) {
      writer.whole_steps()->write_step(0, description);
    }
  });
  const auto closing = writer.file().take_target();
  written.throw_unless_ok();
  formats::finish(closing, description);
}

void discard(const Together& order, FileWriter& writer, const contents::Contents& contents,
             const contents::Catalogue& catalogue) {
  if (auto* const steps = writer.file().steps()) {
    steps->forget_step();
  }
  contents::Description kept;
  if (order.number < 0) {
    kept.contents = in_file(contents.describe(catalogue, 0, order.settled - 1), order).contents;
  }
  formats::finish(writer.file().take_target(), kept);
}

}  // namespace

void carry_out(const Together& order, FileWriter& writer, const contents::Contents& contents,
               const contents::Catalogue& catalogue,
               const std::function<formats::Target()>& create) {
  if (order.action == steps::Action::create) {
    writer.file().created(create());
    if (writer.whole_steps() == nullptr) {
      (void)writer.file().open();
    }
    return;
  }
  if (!writer.file().has_target()) {
    return;  // it could not be created
  }
  if (order.action == steps::Action::flush) {
    flush(order, writer, contents, catalogue);
  } else if (order.action == steps::Action::finish) {
    finish(order, writer, contents, catalogue);
  } else {
    discard(order, writer, contents, catalogue);
  }
}

}  // namespace iocomp::writing
