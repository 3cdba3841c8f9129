// SPDX-License-Identifier: BSD-3-Clause
#include "commit/lead.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "steps/council.h"
#include "steps/orders.h"
#include "steps/predecessors.h"
#include "steps/tree.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

using protocol::Kind;

/// The lead of a file with one member, which writes while the program goes on.
class ALead : public testing::Test, steps::Council {
 protected:
  ALead() : ALead{formats::format("posix")} {}
  explicit ALead(const formats::Format& format) : Council{steps::Tree{1, 1, 0}} {
    Lead::Setup setup;
    setup.key = 7;
    setup.open.name = "out";
    setup.open.members = 1;
    setup.publisher.identity = {.name = "out",
                                .path = folder_ / "out.bin",
                                .job = "here-1",
                                .held = std::make_shared<const OpenFolder>(folder_ / "")};
    setup.publisher.format = &format;
    setup.publisher.options.alignment_bytes = 8192;
    setup.writers = Lead::Writers::members;
    lead_ = std::make_unique<Lead>(
        std::move(setup),
        Lead::Means{.council = this,
                    .progress = &progress_,
                    .run = [](const auto& job, const auto& then) { then(outcome_of(job)); },
                    .note = [](auto, auto) {},
                    .failed = [] { ADD_FAILURE(); }});
  }
  void send_down(int /*writer*/, std::span<const std::byte> /*bundle*/) override { ADD_FAILURE(); }
  void take_order(Message order) override { orders_.push_back(std::move(order)); }

  /// All orders of a kind.
  [[nodiscard]] std::vector<Message> orders(Kind kind) const {
    std::vector<Message> found;
    for (const auto& order : orders_) {
      if (protocol::check_header(order, 0).kind == kind) {
        found.push_back(order);
      }
    }
    return found;
  }
  void write_step(std::int64_t step) {
    lead_->step_ended({step, 0, 1, {}, {}});
    lead_->step_done({step, -1, 1, {}});
  }

  TemporaryFolder folder_;
  steps::Progress progress_;
  std::vector<Message> orders_;
  std::unique_ptr<Lead> lead_;
};

TEST_F(ALead, TellsWhereTheBordersOfDomainsAre) {
  lead_->start();
  const auto known = orders(Kind::known_file);
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(protocol::decode<protocol::Open>(protocol::body(known[0])).domain_bytes, 8192);
  const auto opened = orders(Kind::opened);
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_TRUE(protocol::decode<protocol::Opened>(protocol::body(opened[0])).outcome.ok());
  EXPECT_EQ(protocol::decode<protocol::Opened>(protocol::body(opened[0])).domain_bytes, 8192);
}

// A commit takes time, and the program waits several times as long for the next one.
TEST_F(ALead, HoldsTheNextCommitBackUntilItIsDueOrSomebodyWaits) {
  lead_->start();
  EXPECT_FALSE(lead_->advance());
  write_step(0);
  EXPECT_EQ(orders(Kind::step_settled).size(), 1U);
  write_step(1);
  EXPECT_EQ(orders(Kind::step_settled).size(), 1U);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!lead_->advance() && std::chrono::steady_clock::now() < end) {
    EXPECT_EQ(orders(Kind::step_settled).size(), 1U);
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  EXPECT_LT(std::chrono::steady_clock::now(), end);
  EXPECT_EQ(orders(Kind::step_settled).size(), 2U);
  write_step(2);
  EXPECT_EQ(orders(Kind::step_settled).size(), 2U);
  lead_->hurry(2);
  EXPECT_EQ(orders(Kind::step_settled).size(), 3U);
  EXPECT_FALSE(lead_->advance());
}

/// The same for a file whose steps are written as a whole.
class ALeadOfWholeSteps : public ALead {
 protected:
  ALeadOfWholeSteps() : ALead{format_} {}
  /// Carry out all actions that were ordered.
  void act() {
    for (auto actions = orders(Kind::action); acted_ < actions.size();
         actions = orders(Kind::action)) {
      auto action = protocol::decode<protocol::ActionNote>(protocol::body(actions[acted_++]));
      if (action.action == steps::Action::create) {
        std::ofstream{folder_ / ".out.bin.iocomp-here-1"} << "values";
      }
      action.writers = 1;
      lead_->action_done(action);
    }
  }

  static inline const formats::Format format_{
      {.rules = {.format = "steps"}, .extension = ".bin", .kind = formats::Kind::step}};
  std::size_t acted_ = 0;
};

// No two of them share a commit, and the next one is not written before.
TEST_F(ALeadOfWholeSteps, CommitsEachStepAtOnce) {
  lead_->start();
  act();
  ASSERT_EQ(orders(Kind::opened).size(), 1U);
  for (std::int64_t step = 0; step < 3; ++step) {
    write_step(step);
    act();
    const auto settled = orders(Kind::step_settled);
    ASSERT_EQ(settled.size(), static_cast<std::size_t>(step) + 1);
    EXPECT_EQ(protocol::decode<protocol::StepNote>(protocol::body(settled.back())).outcome.story,
              "");
  }
}

}  // namespace
}  // namespace iocomp::commit
