// SPDX-License-Identifier: BSD-3-Clause
#include "commit/step_lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "base/bug.h"
#include "commit/json_values.h"
#include "commit/manifest.h"
#include "contents/description.h"

namespace iocomp::commit {
namespace {

// A text of this size is shared as it is. A shorter one is copied, with what follows.
constexpr std::size_t enough_text = std::size_t{128} << 10;
// The most times of a line, because each commit writes those of the last line anew.
constexpr std::size_t most_times = 256;

std::string quoted(const std::string& name) {
  const bool is_plain = std::ranges::all_of(
      name, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  return is_plain ? '"' + name + '"' : one_line(name);
}

std::string list(const array::Extents& numbers, int dimensions) {
  std::string text = "[";
  for (int d = 0; d < dimensions; ++d) {
    text += (d == 0 ? "" : ",") + std::to_string(numbers[static_cast<std::size_t>(d)]);
  }
  return text + ']';
}

void add_sums(std::string& text, const std::vector<contents::BlockSum>& sums) {
  text += std::string{",\""} + sums_key + "\":[";
  const char* separator = "";
  for (const auto& [box, checksum] : sums) {
    text += std::exchange(separator, ",");
    text += '[' + list(box.start, box.dimensions) + ',' + list(box.count, box.dimensions) + ",\"" +
            array::hex(checksum) + "\"]";
  }
  text += ']';
}

// The text is put together by hand, because there may be hundreds of variables in each step.
void add_variable(std::string& text, const contents::Placed& placed) {
  text += "{\"name\":" + quoted(placed.variable.name);
  text += ",\"type\":\"";
  text += array::name(placed.variable.type);
  text += "\",\"shape\":" + list(placed.variable.shape.extent, placed.variable.shape.dimensions);
  text += ",\"offset\":" + std::to_string(placed.offset);
  if (placed.sums) {
    add_sums(text, *placed.sums);
  }
}

bool is_like(const contents::Placed& one, const contents::Placed& other) {
  const auto& a = one.variable;
  const auto& b = other.variable;
  return a.id == b.id && a.type == b.type && a.shape == b.shape && a.name == b.name && !one.sums &&
         !other.sums && (one.offset < 0) == (other.offset < 0);
}

bool is_equal(const contents::Placed& one, const contents::Placed& other) {
  return one.step == other.step && one.offset == other.offset && is_like(one, other);
}

}  // namespace

void StepLines::add(const contents::Description& description) {
  auto placed = description.contents.begin();
  auto name = description.names.begin();
  const auto first_of = [](const auto& at, const auto& all, auto step) {
    return at == all.end() ? std::numeric_limits<std::int64_t>::max() : step(*at);
  };
  while (placed != description.contents.end() || name != description.names.end()) {
    Run run;
    run.count = 1;
    run.step = run.number =
        std::min(first_of(placed, description.contents, [](const auto& one) { return one.step; }),
                 first_of(name, description.names, [](const auto& one) { return one.first; }));
    for (; placed != description.contents.end() && placed->step == run.step; ++placed) {
      run.number = placed->number_of_step();
      run.first.push_back(*placed);
    }
    if (name != description.names.end() && name->first == run.step) {
      run.number = name->second.number;
      if (std::isfinite(name->second.time)) {
        run.times.push_back(name->second.time);
      }
      ++name;
    }
    if (is_implied(run)) {
      continue;
    }
    if (!extend(run)) {
      end_run();
      run_ = std::move(run);
    }
  }
}

// True if readers find the same step without a line of its own: see Inventory::name_of.
bool StepLines::is_implied(const Run& step) const {
  const auto number = run_.count == 0 ? step.step : run_.number + (step.step - run_.step);
  return step.first.empty() && step.times.empty() && step.number == number;
}

// Adds the step to the last line, if it continues that. @return true if it does.
bool StepLines::extend(const Run& step) {
  const auto& first = run_.first;
  if (run_.count == 0 || step.step != run_.step + run_.count ||
      step.number != run_.number + run_.count || step.times.empty() != run_.times.empty() ||
      run_.times.size() >= most_times || !std::ranges::equal(first, step.first, is_like)) {
    return false;
  }
  std::vector<std::int64_t> advance;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto moved = step.first[i].offset - first[i].offset;
    advance.push_back(run_.count == 1 ? moved : run_.advance[i]);
    if (advance.back() < 0 || moved != advance.back() * run_.count) {
      return false;
    }
  }
  run_.advance = std::move(advance);
  run_.times.insert(run_.times.end(), step.times.begin(), step.times.end());
  ++run_.count;
  if (!run_.variables) {
    run_.variables = std::make_shared<const std::string>(variables(run_));
  }
  return true;
}

void StepLines::end_run() {
  if (run_.count == 0) {
    return;
  }
  std::string text;
  if (!ended_.empty() && ended_.back()->size() < enough_text) {
    text = *ended_.back();
    ended_.pop_back();
  }
  text += line(run_, text.empty() && ended_.empty());
  ended_.push_back(std::make_shared<const std::string>(std::move(text)));
  run_ = {};
}

// Each entry begins a line, so that two manifests can be compared by eye and by diff.
std::string StepLines::line(const Run& run, bool is_first) {
  std::string text = (is_first ? "\n  " : ",\n  ") + std::string{"{\"step\":"};
  text += std::to_string(run.step);
  if (run.count > 1) {
    text += ",\"count\":" + std::to_string(run.count);
  }
  if (run.number != run.step) {
    text += ",\"number\":" + std::to_string(run.number);
  }
  if (!run.times.empty()) {
    text += ",\"time\":" + (run.count > 1 ? one_line(run.times) : one_line(run.times.front()));
  }
  text += ",\"variables\":[";
  text += run.variables ? *run.variables : variables(run);
  return text + "]}";
}

// The text has "advance" if the earlier line had one step, and so could not tell it.
std::optional<std::string> StepLines::continued(const StepLines& earlier) const {
  const Run& before = earlier.run_;
  const bool had_many = before.count > 1;
  const bool is_another = run_.step != before.step || run_.number != before.number ||
                          (had_many && run_.advance != before.advance) ||
                          !std::ranges::equal(run_.first, before.first, is_equal);
  if (before.count == 0 || run_.count <= before.count ||
      (is_another && !has_bug(Bug::line_continues_another))) {
    return std::nullopt;
  }
  std::string text = "{\"count\":" + std::to_string(run_.count - before.count);
  if (!run_.times.empty()) {
    text += ",\"time\":" + one_line(std::vector<double>{
                               run_.times.begin() + std::ssize(before.times), run_.times.end()});
  }
  if (!had_many) {
    text += ",\"advance\":" + one_line(run_.advance);
  }
  return text + '}';
}

std::string StepLines::variables(const Run& run) {
  std::string text;
  const char* separator = "";
  for (std::size_t i = 0; i < run.first.size(); ++i) {
    text += std::exchange(separator, ",");
    add_variable(text, run.first[i]);
    if (run.count > 1 && run.first[i].offset >= 0) {
      text += ",\"advance\":" + std::to_string(run.advance[i]);
    }
    text += '}';
  }
  return text;
}

std::vector<std::shared_ptr<const std::string>> StepLines::text() const {
  auto parts = ended_;
  if (run_.count > 0) {
    parts.push_back(std::make_shared<const std::string>(line(run_, ended_.empty())));
  }
  return parts;
}

bool operator==(const StepLines& one, const StepLines& other) {
  const auto last = [](const StepLines& lines) {
    return lines.run_.count > 0 ? StepLines::line(lines.run_, false) : std::string{};
  };
  return one.ended_ == other.ended_ && last(one) == last(other);
}

}  // namespace iocomp::commit
