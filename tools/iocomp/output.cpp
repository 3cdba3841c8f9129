// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/output.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/number_ranges.h"
#include "commit/owner.h"
#include "iocomp/settings_here.h"
#include "reading/committed.h"
#include "reading/find_committed.h"
#include "reading/input.h"

namespace iocomp::command {
namespace {

bool is_faulty(const Output::File& file) { return file.fault != Output::Fault::none; }

std::string temporaries_text(std::size_t count) {
  return count == 1 ? "a temporary" : std::to_string(count) + " temporaries";
}

}  // namespace

Output::State Output::state() const noexcept {
  // A single file without a manifest may be another program's.
  const bool is_alone = !is_set && files.size() == 1;
  const bool is_bare = is_alone && files.front().fault == Fault::no_manifest;
  if (holder.state == commit::Holder::State::alive) {
    return State::written_now;
  }
  if (!is_bare && std::ranges::any_of(files, is_faulty)) {
    return State::torn;
  }
  if (holder.state == commit::Holder::State::unknown) {
    return State::unknown;
  }
  if (!temporaries.empty() || holder.state == commit::Holder::State::ended) {
    return State::left;
  }
  return is_bare ? State::undescribed : State::committed;
}

std::string word(Output::State state) {
  using State = Output::State;
  return state == State::committed     ? "committed"
         : state == State::written_now ? "being written"
         : state == State::left        ? "left"
         : state == State::torn        ? "torn"
         : state == State::unknown     ? "unknown"
                                       : "undescribed";
}

std::string Output::told() const {
  const auto torn = std::ranges::find_if(files, is_faulty);
  const auto all_torn = std::ranges::count_if(files, is_faulty);
  switch (state()) {
    case State::committed:
      return steps.empty() ? "closed without a step" : "committed";
    case State::written_now:
      return "being written by " + (holder.job.empty() ? "another process" : holder.job) +
             (steps.empty() ? ", nothing committed yet" : "");
    case State::torn:
      return "torn: " + torn->story +
             (all_torn > 1 ? " (and " + std::to_string(all_torn - 1) + " more)" : "");
    case State::undescribed:
      return "without manifest";
    case State::unknown:
      return "its lock does not tell whether a job writes it";
    case State::left:
      break;
  }
  return (steps.empty() ? "" : "committed; ") +
         (temporaries.empty() ? std::string{"a lock"} : temporaries_text(temporaries.size())) +
         " left by a job that ended";
}

std::unique_ptr<reading::Input> open(const Output& output, const std::string& format) {
  const std::string modules = modules_here();
  auto committed =
      reading::find_committed({.name = output.path,
                               .path = output.path,
                               .backend = format,
                               .modules = modules,
                               .kind = output.is_set ? reading::Sought::Kind::file_per_step
                                                     : reading::Sought::Kind::one_file});
  for (const auto& torn : committed.torn) {
    fmt::print(stderr, "iocomp: step {} is left out: {}\n", torn.step, torn.story);
  }
  auto input = std::make_unique<reading::Input>(output.path, std::move(committed), modules);
  input->try_newest();
  return input;
}

std::string steps_text(const std::vector<std::int64_t>& steps) {
  constexpr std::ptrdiff_t most_ranges = 6;
  if (steps.empty()) {
    return "-";
  }
  std::string ranges = step_ranges(steps);
  if (std::ranges::count(ranges, ',') >= most_ranges) {
    ranges = fmt::format("{},{},...,{}", steps[0], steps[1], steps.back());
  }
  return fmt::format("{} ({})", ranges, steps.size());
}

void print(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace iocomp::command
