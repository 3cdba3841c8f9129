// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/folder_targets.h"
#include "base/path.h"
#include "iocomp/find_outputs.h"
#include "iocomp/numbers.h"
#include "iocomp/output.h"
#include "iocomp/slice.h"
#include "iocomp/subcommands.h"
#include "iocomp/values.h"
#include "reading/input.h"

namespace iocomp::command {
namespace {

constexpr int none_there = 1;
constexpr int column = 13;

struct WatchOptions {
  std::string path;
  std::vector<std::string> variables;
  double every = 1;
  bool json = false;
};

/// Seconds since 1970 at which a manifest was last written; 0 where there is none.
double written_at(const std::string& manifest) {
  struct stat status{};
  if (::stat(manifest.c_str(), &status) != 0) {
    return 0;
  }
  return static_cast<double>(status.st_mtim.tv_sec) +
         static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
}

/// The state of the disk at a moment.
struct Look {
  Output output;
  double committed_at = 0;                          ///< the newest step; seconds since 1970
  double uncommitted_bytes = 0;                     ///< that the job has written since, or NaN
  std::map<std::string, std::int64_t> committed{};  ///< bytes by file
  /// From one step to the next, as far as the looks tell: all differences are multiples of it.
  std::int64_t apart = 0;

  [[nodiscard]] std::optional<std::int64_t> newest() const {
    return output.steps.empty() ? std::nullopt : std::optional{output.steps.back()};
  }
  [[nodiscard]] bool is_being_written() const {
    return output.state() == Output::State::written_now;
  }
};

Look look_at(const std::string& path) {
  Look now{.output = output_at(path)};
  std::int64_t uncommitted = now.output.bytes;
  bool is_known = true;
  for (const auto& file : now.output.files) {
    now.committed_at = std::max(now.committed_at, written_at(file.path + ".json"));
    // The manifest of a store does not count its bytes.
    const bool counts = file.committed_bytes > 0 || !now.newest();
    is_known = is_known && counts;
    now.committed[file.path] =
        counts ? file.committed_bytes : size_if_there(Path{file.path}).value_or(0);
    uncommitted -= file.committed_bytes;
  }
  uncommitted = std::max<std::int64_t>(uncommitted, 0);
  for (const auto& temporary : now.output.temporaries) {  // some may have their final names by now
    uncommitted += size_if_there(Path{temporary}).value_or(0);
  }
  now.uncommitted_bytes = is_known ? static_cast<double>(uncommitted) : std::nan("");
  return now;
}

/// The rate of commits between two looks; NaN if nothing tells it.
struct Pace {
  double seconds_per_step = std::nan("");
  double bytes_per_second = std::nan("");
};

Pace pace(const Look& before, const Look& now) {
  const auto& steps = now.output.steps;
  const double seconds = now.committed_at - before.committed_at;
  if (!before.newest() || !now.newest() || *now.newest() <= *before.newest() || seconds <= 0) {
    return {};
  }
  const auto seen = static_cast<double>(
      std::ranges::count_if(steps, [&](std::int64_t step) { return step > *before.newest(); }));
  double fresh = seen;
  if (steps.front() > *before.newest()) {  // others may have been removed meanwhile
    const double apart = steps.size() < 2 ? static_cast<double>(now.apart)
                                          : static_cast<double>(steps.back() - steps.front()) /
                                                static_cast<double>(steps.size() - 1);
    fresh =
        std::max(seen, std::round(static_cast<double>(*now.newest() - *before.newest()) / apart));
  }
  std::int64_t bytes = 0;
  for (const auto& [path, committed] : now.committed) {
    const auto known = before.committed.find(path);
    bytes += std::max<std::int64_t>(
        committed - (known == before.committed.end() ? 0 : known->second), 0);
  }
  return {.seconds_per_step = seconds / fresh,
          .bytes_per_second = static_cast<double>(bytes) * fresh / seen / seconds};
}

/// The values of the newest step that has a variable.
struct Values {
  std::string variable;
  Statistics statistics;
};

struct Contents {
  double time = std::nan("");
  std::vector<Values> values{};
};

Contents contents_of(const Output& output, const std::vector<std::string>& variables) {
  const auto input = open(output);
  Contents all{.time = input->time(input->committed().steps.back().number)};
  for (const auto& name : variables) {
    const auto& place = input->variable(input->find(name)).places.back();
    Statistics statistics{place.type};
    read_in_parts(*input, name, place.step, slice("", place.shape),
                  [&](auto elements, std::int64_t) { statistics.add(elements); });
    all.values.push_back({name, statistics});
  }
  return all;
}

/// Prints a line for each look. The first one for people is a head.
class Lines {
 public:
  explicit Lines(const WatchOptions& options) : options_{options} {}

  void print(const Look& now, const Contents& contents, const Pace& pace) {
    options_.json ? print_json(now, contents, pace) : print_row(now, contents, pace);
    std::fflush(stdout);
  }
  void print_end(const Output& output) const {
    if (!options_.json) {
      fmt::print("{}: {}\n", output.path, output.told());
      std::fflush(stdout);
    }
  }

 private:
  // Six digits of a real number; all of an integer, and a complex number as it is.
  static std::string short_text(const std::optional<std::string>& number) {
    const bool is_real = number && number->find_first_of(".e") != std::string::npos &&
                         number->find('(') == std::string::npos;
    return is_real ? fmt::format("{:.6g}", std::strtod(number->c_str(), nullptr))
                   : number.value_or("-");
  }
  static void print_cells(const std::vector<std::string>& cells) {
    std::string line;
    for (const auto& cell : cells) {
      line += fmt::format("{:<{}}", cell, column) + ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
  void print_row(const Look& now, const Contents& contents, const Pace& pace) {
    if (!has_head_) {
      std::vector<std::string> head{"committed at", "step", "steps", "time",
                                    "s per step",   "rate", "behind"};
      for (const auto& name : options_.variables) {
        head.push_back(name + ": minimum, maximum, mean");
      }
      print_cells(head);
      has_head_ = true;
    }
    const auto number = [](double value) {
      return std::isnan(value) ? std::string{"-"} : fmt::format("{:.6g}", value);
    };
    const auto bytes = [](double value, const char* each) {
      return std::isnan(value) ? std::string{"-"}
                               : format_bytes(static_cast<std::int64_t>(value)) + each;
    };
    const auto second = static_cast<std::time_t>(now.committed_at);
    std::vector<std::string> cells{
        now.newest() ? fmt::format("{:%H:%M:%S}", fmt::localtime(second)) : "-",
        now.newest() ? std::to_string(*now.newest()) : "-",
        std::to_string(now.output.steps.size()),
        number(contents.time),
        number(pace.seconds_per_step),
        bytes(pace.bytes_per_second, "/s"),
        bytes(now.uncommitted_bytes, "")};
    for (const auto& [name, statistics] : contents.values) {
      cells.push_back(short_text(statistics.minimum()) + ", " + short_text(statistics.maximum()) +
                      ", " + short_text(statistics.mean()));
    }
    print_cells(cells);
  }
  static void print_json(const Look& now, const Contents& contents, const Pace& pace) {
    const auto number = [](double value) { return std::isnan(value) ? Json{} : Json(value); };
    const Json bytes = std::isnan(now.uncommitted_bytes)
                           ? Json{}
                           : Json(static_cast<std::int64_t>(now.uncommitted_bytes));
    Json values = Json::object();
    for (const auto& [name, statistics] : contents.values) {
      values[name] = {{"minimum", json_number(statistics.minimum())},
                      {"maximum", json_number(statistics.maximum())},
                      {"mean", json_number(statistics.mean())},
                      {"not_a_number", statistics.not_a_number()}};
    }
    const Json line{{"path", now.output.path},
                    {"state", word(now.output.state())},
                    {"step", now.newest() ? Json(*now.newest()) : Json{}},
                    {"steps", now.output.steps.size()},
                    {"time", number(contents.time)},
                    {"committed_at", now.newest() ? Json(now.committed_at) : Json{}},
                    {"seconds_per_step", number(pace.seconds_per_step)},
                    {"bytes_per_second", number(pace.bytes_per_second)},
                    {"uncommitted_bytes", bytes},
                    {"variables", values}};
    fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  const WatchOptions& options_;
  bool has_head_ = false;
};

/// @return whether something is committed when the job ends.
bool watch(const WatchOptions& options) {
  Lines lines{options};
  std::optional<Look> before;
  for (;;) {
    Look now = look_at(options.path);
    if (before && before->newest() && now.newest()) {
      now.apart = std::gcd(before->apart, *now.newest() - *before->newest());
    }
    const bool is_end = !now.is_being_written();
    // JSON has no other line that tells of the end.
    if (!before || now.newest() != before->newest() || (is_end && options.json)) {
      Contents contents;
      const auto read = outcome_of([&] {
        if (now.newest()) {
          contents = contents_of(now.output, options.variables);
        }
      });
      if (!read.ok() && look_at(options.path).newest() == now.newest()) {
        read.throw_unless_ok();  // else the job has removed that step since, and has a newer one
      }
      lines.print(now, contents, before ? pace(*before, now) : Pace{});
      before = now;
    }
    if (is_end) {
      lines.print_end(now.output);
      return now.newest().has_value();
    }
    std::this_thread::sleep_for(std::chrono::duration<double>{options.every});
  }
}

}  // namespace

void add_watch(CLI::App& app) {
  auto options = std::make_shared<WatchOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "watch", "Print a line for each step that a running job commits, until the job ends");
  command->add_option("PATH", options->path, "A file, or the name of a set of checkpoints")
      ->required();
  command
      ->add_option("--variable", options->variables,
                   "Print minimum, maximum and mean of it too, which reads all of it")
      ->type_name("NAME");
  command->add_option("--every", options->every, "Seconds between two looks")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 86400.0))
      ->check([](const std::string& text) {  // a range lets NaN through
        return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number" : "";
      });
  command->add_flag("--json", options->json, "Print each line as JSON");
  command->callback([options] {
    if (!watch(*options)) {
      throw CLI::RuntimeError{none_there};
    }
  });
}

}  // namespace iocomp::command
