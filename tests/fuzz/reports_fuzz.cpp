// SPDX-License-Identifier: BSD-3-Clause
// Reports about one file, in any order and with anything in them: what homes sum up, and what the
// coordinator of the file makes of it. Each is a kind, a length of two bytes and the body of a
// message.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "commit/reports.h"
#include "contents/catalogue.h"
#include "contents/rules.h"
#include "fuzz/target.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "steps/coordinator.h"
#include "steps/coverage.h"
#include "steps/orders.h"

namespace iocomp::fuzz {
namespace {

constexpr std::uint64_t file = 77;

/// A lead that writes nothing: it answers each order as soon as it comes.
class Lead {
 public:
  Lead(Material& material, const contents::Rules& rules)
      : catalogue_{rules, 64, true},
        coordinator_{{.file_name = "fields",
                      .members = 1 + material.up_to(3),
                      .writers = 1 + material.up_to(2),
                      .joins_commits = material.up_to(1) == 1,
                      .may_overlap = material.up_to(1) == 1,
                      .asks_writers = material.up_to(1) == 1,
                      .syncs_last = material.up_to(1) == 1},
                     catalogue_,
                     others_} {}

  void hear(protocol::Kind kind, std::span<const std::byte> body) {
    using protocol::Kind;
    switch (kind) {
      case Kind::event:
        catalogue_.apply(contents::decode_event(protocol::decode<protocol::Event>(body).what));
        break;
      case Kind::end_step:
        coordinator_.ended(protocol::decode<protocol::StepCounts>(body), "compute rank 1");
        break;
      case Kind::close:
        coordinator_.closed(protocol::decode<protocol::StepCounts>(body), "compute rank 1");
        break;
      case Kind::put_report: {
        auto report = protocol::decode<protocol::PutReport>(body);
        coordinator_.put(report.step, std::move(report.puts));
        break;
      }
      case Kind::step_done: {
        const auto note = protocol::decode<protocol::StepNote>(body);
        coordinator_.done(note.step, note.outcome);
        break;
      }
      default: {
        const auto note = protocol::decode<protocol::StepNote>(body);
        coordinator_.failed(note.outcome, note.step);
      }
    }
    obey();
  }

 private:
  void obey() {
    // Each step that waited takes two orders when it is dropped, and the file some more.
    for (auto left = 3 * steps::Coordinator::most_unsettled; left > 0; --left) {
      const auto order = coordinator_.next_order();
      if (!order) {
        return;
      }
      if (const auto* look = std::get_if<steps::Look>(&*order)) {
        auto questions = *look->questions;
        const Outcome answered = outcome_of([&] {
          for (auto& question : questions) {
            steps::answer(question);
          }
        });
        coordinator_.looked(look->step, questions, answered);
      } else if (std::holds_alternative<steps::Commit>(*order)) {
        coordinator_.committed({});
      } else if (std::holds_alternative<steps::Drop>(*order)) {
        coordinator_.dropped();
      } else if (std::holds_alternative<steps::Finish>(*order)) {
        coordinator_.finished({});
      }
    }
    found("a coordinator whose orders do not end");
  }

  contents::Catalogue catalogue_;
  steps::Progress others_;
  steps::Coordinator coordinator_;
};

/// A home: what it passes on can be read, and is heard by the lead.
class Home {
 public:
  Home(Material& material, Lead& lead)
      : reports_{file, 2,
                 [&lead](const protocol::Bytes& message) {
                   using protocol::Kind;
                   const Kind kind = protocol::check_header(message, 0).kind;
                   lead.hear(kind == Kind::home_event   ? Kind::event
                             : kind == Kind::home_step  ? Kind::end_step
                             : kind == Kind::home_close ? Kind::close
                                                        : kind,
                             protocol::body(message));
                 },
                 [](const steps::Difference& difference) {
                   require(!difference.what.empty(), "a difference without a story");
                 }} {
    reports_.expect(1 + material.up_to(2));
  }

  void hear(protocol::Kind kind, std::span<const std::byte> body) {
    using protocol::Kind;
    reports_.take(kind == Kind::event      ? Kind::home_event
                  : kind == Kind::end_step ? Kind::home_step
                  : kind == Kind::close    ? Kind::home_close
                                           : Kind::step_done,
                  body, "compute rank 2");
  }

 private:
  commit::Reports reports_;
};

}  // namespace
}  // namespace iocomp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iocomp;
  using protocol::Kind;
  constexpr Kind kinds[] = {Kind::event,      Kind::end_step,  Kind::close,
                            Kind::put_report, Kind::step_done, Kind::file_failed};
  fuzz::Material material{data, size};
  const fuzz::MemoryLimit limit{512 * size + (std::size_t{64} << 10)};
  contents::Rules rules{.format = "fuzz"};
  rules.keeps_first_definitions = material.up_to(1) == 1;
  fuzz::Lead lead{material, rules};
  fuzz::Home home{material, lead};
  while (!material.is_empty()) {
    const int which = material.up_to(11);
    const auto body = material.take(material.number<std::uint16_t>());
    (void)fuzz::accepts([&] {
      if (which < 6) {
        lead.hear(kinds[which], body);
      } else {
        home.hear(kinds[which - 6], body);
      }
    });
  }
  return 0;
}
