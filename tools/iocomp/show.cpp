// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "base/number_ranges.h"
#include "commit/json_values.h"
#include "contents/variable.h"
#include "iocomp/find_outputs.h"
#include "iocomp/numbers.h"
#include "iocomp/output.h"
#include "iocomp/slice.h"
#include "iocomp/subcommands.h"
#include "iocomp/table.h"
#include "iocomp/values.h"
#include "reading/committed.h"
#include "reading/input.h"

namespace iocomp::command {
namespace {

using reading::Committed;

constexpr std::int64_t most_unasked = 1000;  // numbers that are printed where no slice is named
constexpr std::int64_t most_in_line = 10;
constexpr std::size_t longest_attribute = 60;

struct ShowOptions {
  std::string path;
  std::string format;
  std::string variable;
  std::optional<std::int64_t> step;
  std::optional<std::string> slice;
  bool json = false;
};

template <typename Steps, typename Number>
std::vector<std::int64_t> numbers(const Steps& steps, Number number) {
  std::vector<std::int64_t> all;
  std::ranges::transform(steps, std::back_inserter(all), number);
  return all;
}

std::vector<std::int64_t> extents(const array::Extents& entries, int dimensions) {
  return {entries.begin(), entries.begin() + dimensions};
}

// ---- what is there ----

std::string told(const contents::Attributes& attributes) {
  std::string all;
  for (const auto& [name, attribute] : attributes) {
    const Json described = commit::json(attribute);
    const Json& value = described.contains("value") ? described["value"] : described["bytes"];
    auto text = (value.is_array() && value.size() == 1 ? value[0] : value)
                    .dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > longest_attribute) {
      text = text.substr(0, longest_attribute) + "...";
    }
    all += (all.empty() ? "" : ", ") + name + " = " + text;
  }
  return all;
}

bool are_alike(const Committed::Place& left, const Committed::Place& right) {
  return left.type == right.type && left.shape == right.shape;
}

std::vector<std::string> row_of(const Committed::Variable& variable) {
  const auto& newest = variable.places.back();
  const bool changes = !std::ranges::all_of(
      variable.places, [&](const auto& place) { return are_alike(place, newest); });
  return {variable.name, std::string{array::name(newest.type)},
          array::text(newest.shape) + (changes ? " (others before)" : ""),
          steps_text(numbers(variable.places, &Committed::Place::step)), told(variable.attributes)};
}

// The bytes of all committed values, as they are in memory.
std::int64_t value_bytes(const Committed& committed) {
  std::int64_t bytes = 0;
  for (const auto& variable : committed.variables) {
    for (const auto& place : variable.places) {
      bytes +=
          array::elements(place.shape) * static_cast<std::int64_t>(array::size_bytes(place.type));
    }
  }
  return bytes;
}

// "1.0 GiB", and where values were compressed "for 4.0 GiB of values (4.0 : 1)".
std::string size_text(const Output& output, const Committed& committed) {
  const std::int64_t values = value_bytes(committed);
  const auto size = format_bytes(output.bytes);
  return output.bytes <= 0 || values <= output.bytes
             ? size
             : fmt::format("{} for {} of values ({:.1f} : 1)", size, format_bytes(values),
                           static_cast<double>(values) / static_cast<double>(output.bytes));
}

// NaN also if it cannot be read: the rest is shown.
double time_of(reading::Input& input, std::int64_t step) {
  double time = std::nan("");
  (void)outcome_of([&] { time = input.time(step); });
  return time;
}

void print_table(const Output& output, reading::Input& input) {
  const Committed& committed = input.committed();
  std::vector<std::vector<std::string>> head{{"file", output.path},
                                             {"format", committed.files.back().format}};
  if (!output.kind.empty()) {
    head.push_back({"kind", output.kind});
  }
  if (output.is_set) {
    head.push_back({"files", std::to_string(committed.files.size())});
  }
  head.push_back({"steps", steps_text(numbers(committed.steps, &Committed::Step::number))});
  head.push_back({"size", size_text(output, committed)});
  const double time = time_of(input, reading::newest_step);
  if (std::isfinite(time)) {
    head.push_back({"time", fmt::format("{} (step {})", time, committed.steps.back().number)});
  }
  if (!committed.attributes.empty()) {
    head.push_back({"attributes", told(committed.attributes)});
  }
  fmt::print("{}\n", aligned(head));
  std::vector<std::vector<std::string>> rows{{"variable", "type", "shape", "steps", "attributes"}};
  std::ranges::transform(committed.variables, std::back_inserter(rows), row_of);
  fmt::print("{}", aligned(rows));
  for (const auto& [name, why] : committed.not_read) {
    fmt::print("not read: {}: {}\n", name, why);
  }
}

Json json_of(const Committed::Variable& variable) {
  Json places = Json::array();
  for (auto first = variable.places.begin(); first != variable.places.end();) {
    const auto next = std::find_if_not(first, variable.places.end(),
                                       [&](const auto& place) { return are_alike(place, *first); });
    places.push_back({{"type", array::name(first->type)},
                      {"shape", extents(first->shape.extent, first->shape.dimensions)},
                      {"steps", numbers(std::span{first, next}, &Committed::Place::step)}});
    first = next;
  }
  return {{"name", variable.name},
          {"type", places.back()["type"]},
          {"shape", places.back()["shape"]},
          {"places", places},
          {"attributes", commit::json(variable.attributes)}};
}

void print_json(const Output& output, reading::Input& input) {
  const Committed& committed = input.committed();
  Json variables = Json::array();
  std::ranges::transform(committed.variables, std::back_inserter(variables),
                         [](const auto& variable) { return json_of(variable); });
  Json times = Json::array();
  for (const auto& step : committed.steps) {
    const double time = time_of(input, step.number);
    times.push_back(std::isnan(time) ? Json{} : Json(time));
  }
  Json left_out = Json::array();
  for (const auto& torn : committed.torn) {
    left_out.push_back({{"step", torn.step}, {"story", torn.story}});
  }
  print(Json{{"path", output.path},
             {"name", output.name},
             {"format", committed.files.back().format},
             {"kind", output.kind},
             {"files", committed.files.size()},
             {"steps", numbers(committed.steps, &Committed::Step::number)},
             {"times", times},
             {"bytes", output.bytes},
             {"value_bytes", value_bytes(committed)},
             {"left_out", left_out},
             {"not_read", committed.not_read},
             {"attributes", commit::json(committed.attributes)},
             {"variables", variables}});
}

// ---- its values ----

/// Prints elements of a box, in lines that begin with the index of their first.
class Lines {
 public:
  Lines(array::ElementType type, const array::Box& box) : type_{type}, box_{box} {
    if (box.dimensions > 0) {
      row_ = box.count.at(static_cast<std::size_t>(box.dimensions) - 1);
    }
  }
  void add(std::span<const std::byte> elements, std::int64_t first) {
    const std::size_t size = array::size_bytes(type_);
    for (std::size_t at = 0; at < elements.size(); at += size, ++first) {
      const bool is_text = type_ == array::ElementType::character;
      const std::int64_t in_row = first % row_;
      if (in_row == 0 || (!is_text && in_row % most_in_line == 0)) {
        fmt::print("{}{} ", first == 0 ? "" : "\n", index(first));
        zeros_ = 0;
      }
      if (is_text && elements[at] == std::byte{0}) {  // printed if something follows in the row
        ++zeros_;
        continue;
      }
      for (; zeros_ > 0; --zeros_) {
        fmt::print("\\u0000");
      }
      fmt::print("{}{}", is_text ? "" : " ", text_of(type_, elements.data() + at));
    }
  }

 private:
  [[nodiscard]] std::string index(std::int64_t element) const {
    std::string all;
    for (int d = box_.dimensions - 1; d >= 0; --d) {
      const auto extent = box_.count.at(static_cast<std::size_t>(d));
      const auto here = box_.start.at(static_cast<std::size_t>(d)) + element % extent;
      all = std::to_string(here) + (all.empty() ? "" : ", " + all);
      element /= extent;
    }
    return '[' + all + ']';
  }

  array::ElementType type_;
  array::Box box_;
  std::int64_t row_ = 1;
  std::int64_t zeros_ = 0;
};

void print_statistics(const Statistics& statistics) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&rows](const char* what, const std::optional<std::string>& number) {
    if (number) {
      rows.push_back({what, *number});
    }
  };
  add("minimum", statistics.minimum());
  add("maximum", statistics.maximum());
  add("mean", statistics.mean());
  if (statistics.not_a_number() > 0) {
    rows.push_back({"NaN", std::to_string(statistics.not_a_number())});
  }
  fmt::print("{}", aligned(rows));
}

void print_values(reading::Input& input, std::int64_t step, const array::Box& box, bool all,
                  const ShowOptions& options) {
  const auto& place = input.place(options.variable, step);
  fmt::print("{}, step {}: {} {} of {}\n", options.variable, step, array::name(place.type),
             array::text(box), array::text(place.shape));
  Statistics statistics{place.type};
  Lines lines{place.type, box};
  read_in_parts(input, options.variable, step, box, [&](auto elements, std::int64_t first) {
    statistics.add(elements);
    if (all) {
      lines.add(elements, first);
    }
  });
  if (!all) {
    fmt::print("{} elements: --slice prints some of them\n", array::elements(box));
  } else if (array::elements(box) > 0) {
    fmt::print("\n");
  }
  print_statistics(statistics);
}

// The values come last: they may be more than the memory holds.
void print_values_as_json(reading::Input& input, std::int64_t step, const array::Box& box, bool all,
                          const ShowOptions& options) {
  const auto& place = input.place(options.variable, step);
  const Json head{{"path", input.name()},
                  {"variable", options.variable},
                  {"step", step},
                  {"type", array::name(place.type)},
                  {"shape", extents(place.shape.extent, place.shape.dimensions)},
                  {"start", extents(box.start, box.dimensions)},
                  {"count", extents(box.count, box.dimensions)}};
  fmt::print("{{");
  for (const auto& [key, value] : head.items()) {
    fmt::print("{}: {},\n ", Json(key).dump(),
               value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  Statistics statistics{place.type};
  fmt::print("\"values\": {}", all ? "[" : "null");
  read_in_parts(input, options.variable, step, box, [&](auto elements, std::int64_t first) {
    statistics.add(elements);
    if (all && !elements.empty()) {
      const contents::Attribute part{place.type, false, {elements.begin(), elements.end()}};
      const auto text = commit::json(part)["value"].dump();
      fmt::print("{}{}", first == 0 ? "" : ",", std::string_view{text}.substr(1, text.size() - 2));
    }
  });
  fmt::print("{},\n \"minimum\": {},\n \"maximum\": {},\n \"mean\": {},\n \"not_a_number\": {}}}\n",
             all ? "]" : "", json_number(statistics.minimum()).dump(),
             json_number(statistics.maximum()).dump(), json_number(statistics.mean()).dump(),
             statistics.not_a_number());
}

void show(const ShowOptions& options) {
  const Output output = output_at(options.path);
  const auto opened = open(output, options.format);
  auto& input = *opened;
  if (options.variable.empty()) {
    options.json ? print_json(output, input) : print_table(output, input);
    return;
  }
  const auto& places = input.variable(input.find(options.variable)).places;
  const std::int64_t asked = options.step.value_or(-1);
  const std::int64_t step = asked == -1 ? places.back().step : asked;
  const auto box = slice(options.slice.value_or(""), input.place(options.variable, step).shape);
  const bool all = options.slice || array::elements(box) <= most_unasked;
  options.json ? print_values_as_json(input, step, box, all, options)
               : print_values(input, step, box, all, options);
}

}  // namespace

void add_show(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "show", "Print variables, shapes, steps and attributes of a file; or values of a variable");
  command->add_option("PATH", options->path, "A file, or the name of a set of checkpoints")
      ->required();
  auto* variable = command->add_option("--variable", options->variable,
                                       "Print its values, and their minimum, maximum and mean");
  variable->type_name("NAME");
  command
      ->add_option("--step", options->step, "The step to print [the newest that has the variable]")
      ->needs(variable);
  command
      ->add_option("--slice", options->slice,
                   "This part of it, as \"0:4,10,:\"; up to 1000 elements are printed without it")
      ->type_name("SLICE")
      ->needs(variable);
  command
      ->add_option("--format", options->format,
                   "The format of a file whose first bytes do not tell it")
      ->type_name("NAME");
  command->add_flag("--json", options->json, "Print it as JSON");
  command->callback([options] { show(*options); });
}

}  // namespace iocomp::command
