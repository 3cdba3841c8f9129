// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/rules.h"
#include "steps/coordinator.h"
#include "steps/orders.h"
#include "steps/predecessors.h"

namespace iocomp::steps {

/// One history of a file, made from a seed: members and writers report in a random order, some
/// fail, make other calls or die, and a coordinator decides. What it orders is checked against what
/// was really reported.
class World {
 public:
  explicit World(std::uint64_t seed, bool tells = false);

  /// Run it to its end. @return what went wrong; empty where nothing did.
  [[nodiscard]] std::string run();
  /// The events, a line each; with `tells`.
  [[nodiscard]] const std::string& log() const noexcept { return log_; }
  [[nodiscard]] std::int64_t commits() const noexcept { return commits_; }

 private:
  static constexpr int most_members = 4;
  static constexpr int most_steps = 5;
  static constexpr std::int64_t steps_of_other = 4;
  enum class Kind : std::uint8_t {
    end,
    close,
    puts,
    done,
    looked,
    committed,
    dropped,
    finished,
    other  // a step of another file has settled
  };
  struct Report {
    Kind kind{};
    std::int64_t step = 0;
    bool has_failed = false;
    std::vector<std::int32_t> variables{};               // puts
    std::shared_ptr<std::vector<Question>> questions{};  // looked
  };
  struct Queue {  // of one participant: its reports arrive in this order
    std::vector<Report> reports;
    std::size_t next = 0;
    [[nodiscard]] bool is_empty() const noexcept { return next == reports.size(); }
  };
  enum class Fate : std::uint8_t { open, committed, dropped };
  struct Step {                             // the truth
    std::array<std::uint8_t, 2> pattern{};  // of each variable: whole, holes, overlap, none
    std::int64_t comes_after = 0;           // so many steps of the other file
    unsigned ended = 0;                     // members, a bit each
    int durable = 0;                        // writers of this round whose part is good
    bool has_failed = false;                // some writer's part
    bool is_filled = false;                 // asked for
    bool is_synced = false;                 // asked for
    bool was_looked_at = false;
    bool has_stripes = false;        // some elements wait in stripes
    bool are_stripes_ended = false;  // asked for
    Fate fate = Fate::open;
    bool is_settled = false;
  };
  [[nodiscard]] std::uint64_t random(std::uint64_t below);
  [[nodiscard]] bool chance(std::uint64_t one_in) { return random(one_in) == 0; }
  void make_plan();
  void start(std::int64_t first_step, std::int64_t committed);
  void take_over();
  [[nodiscard]] Ended ended(int member, std::int64_t step) const;
  [[nodiscard]] std::vector<PutRecord> puts(int writer, const Report& report) const;
  [[nodiscard]] array::Box box(int member, std::size_t variable, std::int64_t step) const;
  void deliver(int participant);
  void take_orders();
  void obey(const Expect& order);
  void obey(const Fill& order);
  void obey(const Sync& order);
  void obey(const Settle& order);
  void obey(const Fail& order);
  void obey(const Closed& order);
  void obey(const Look& order);
  void obey(const Commit& order);
  void obey(const Drop& order);
  void obey(const Finish& order);
  void check_commit(std::int64_t step);
  void check_end();
  void wrong(const std::string& what);
  void tell(const std::string& what);
  [[nodiscard]] bool must_fail(const Step& step) const;
  [[nodiscard]] Step& at(std::int64_t step) { return steps_.at(static_cast<std::size_t>(step)); }

  std::uint64_t state_;
  bool tells_;
  Coordinator::Setup setup_;
  Progress progress_;                          // of the other file
  std::int64_t other_settled_ = 0;             // its steps
  std::int64_t other_fails_ = steps_of_other;  // one of them
  std::unique_ptr<Coordinator> coordinator_;
  std::array<Step, most_steps + 2> steps_{};
  std::array<std::int64_t, most_members> ends_{};  // steps that each member ends
  std::vector<Queue> queues_;                      // members, writers, the other file, the lead
  int dead_ = -1;                                  // a member
  bool can_crash_ = false;
  bool has_failed_ = false;  // the file
  bool is_closed_ = false;
  std::int64_t commits_ = 0;
  std::int64_t next_settled_ = 0;
  std::string wrong_;
  std::string log_;
};

}  // namespace iocomp::steps
