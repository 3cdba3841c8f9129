// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "plan.h"
#include "told.h"

namespace simulation {

/// The results of the calls of one rank for one file: 0, or the code of an error.
struct Ends {
  int first_error = 0;
  /// By step, variable, number of the put: what became of its ticket, or why there is none.
  std::map<PutName, int> tickets{};
  bool operator==(const Ends&) const = default;
};

/// Hears what the calls of the programs come to, while a job runs, and says what breaks a promise
/// by itself. What is on the disk is compared with what it has heard by `check_disk`.
class Oracle {
 public:
  static constexpr std::size_t no_file = SIZE_MAX;

  explicit Oracle(const Plan& plan);

  /// Learns what is there already.
  void know(const std::vector<Found>& before);
  /// The ranks live on when a server is lost.
  void let_go_on(bool can_go_on) noexcept { can_go_on_ = can_go_on; }
  void when_called(std::function<void(int rank, const std::string&)> log) { log_ = std::move(log); }
  /// Each call of a program does this before it begins, and after it has ended.
  void around_calls(std::function<void(int rank)> begins, std::function<void(int rank)> ends) {
    call_begins_ = std::move(begins);
    call_ends_ = std::move(ends);
  }
  void say(int rank, const std::string& what) const;
  void broken(const std::string& what) { violations_.push_back(what); }

  // Calls of the programs.
  /// Make a call of the library. @return 0, or the code of its failure.
  int attempt(int rank, std::size_t file, const std::string& call,
              const std::function<void()>& body);
  void opened(int rank, std::size_t file, std::int64_t first_step);
  /// A rank is about to close a file, or to leave that to finalize.
  void lets_go(std::size_t file) { --open_[file]; }
  /// True if all members have a file open.
  [[nodiscard]] bool is_held(std::size_t file) const;
  /// A rank has set the attributes of a file, to their values of this version.
  void set_attributes(std::size_t file, int version);
  /// The result of a put: its ticket, or 0.
  int& end_of_put(int rank, std::size_t file, const PutName& put);
  void refused(std::size_t file, const PutName& put);
  void is_durable(std::size_t file, const PutName& put);
  /// A rank ends a step, in this call.
  void end_step(int rank, std::size_t file, std::int64_t step, const std::function<void()>& end);
  /// A rank waits for a step, in this call.
  void wait_step(int rank, std::size_t file, std::int64_t step, const std::function<void()>& wait);
  /// A rank closes a file, in this call. @param steps  that its program has made: up to this one.
  /// @return whether close said yes.
  bool close(int rank, std::size_t file, std::int64_t steps, const std::function<void()>& wait);

  [[nodiscard]] const std::vector<Told>& told() const noexcept { return told_; }
  /// By rank and file.
  [[nodiscard]] const std::vector<std::vector<Ends>>& ends() const noexcept { return ends_; }
  [[nodiscard]] const std::vector<std::string>& violations() const noexcept { return violations_; }
  [[nodiscard]] bool has_heard_of_failures() const noexcept { return failures_ > 0; }
  /// Somebody did not come in time, for another.
  [[nodiscard]] bool is_late() const noexcept { return is_late_; }

 private:
  /// The failures of one file that one rank was told.
  struct Failures {
    std::set<std::int64_t> steps{};
    bool is_whole_file = false;
  };
  /// @return why it failed; else nothing.
  [[nodiscard]] std::optional<iocomp::Error> make(int rank,
                                                  const std::function<void()>& call) const;
  void failed(int rank, std::size_t file, const std::string& call, const iocomp::Error& error);

  const Plan& plan_;
  std::vector<Told> told_;
  std::vector<std::vector<Ends>> ends_;
  std::vector<std::vector<Failures>> failures_of_;          // by rank and file
  std::vector<std::vector<std::set<std::int64_t>>> ended_;  // steps, likewise
  std::vector<int> open_;                                   // by file: ranks that have it open
  std::vector<int> closes_;  // by file: ranks that have closed it without a failure
  std::vector<std::string> violations_;
  std::function<void(int, const std::string&)> log_;
  std::function<void(int)> call_begins_ = [](int) {};
  std::function<void(int)> call_ends_ = [](int) {};
  int failures_ = 0;
  bool can_go_on_ = false;
  bool is_late_ = false;
};

}  // namespace simulation
