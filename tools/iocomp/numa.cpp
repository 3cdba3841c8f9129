// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "config/edited.h"
#include "formats/file_system.h"
#include "iocomp/numa/bench.h"
#include "iocomp/numa/heat_map.h"
#include "iocomp/numa/report.h"
#include "iocomp/numa/results.h"
#include "iocomp/numa/trial.h"
#include "iocomp/number_list.h"
#include "iocomp/output.h"
#include "iocomp/own_words.h"
#include "iocomp/subcommands.h"
#include "iocomp/text_file.h"
#include "placement/writer_policy.h"
#include "placement/writer_seats.h"
#include "topology/discover.h"
#include "topology/node.h"

namespace iocomp::command {
namespace {

constexpr std::int64_t least_bytes_per_thread = std::int64_t{64} << 10;
constexpr std::size_t threads_factor = 4;

struct NumaOptions {
  std::string directory = ".";
  std::string size = "64 MiB";
  std::string threads;
  std::vector<std::string> operations;
  int rounds = 5;
  std::string picture;
  std::string settings;  ///< file to write what `auto` shall take into
  bool json = false;
};

[[noreturn]] void refuse_option(const std::string& option, const std::string& value,
                                const std::string& allowed) {
  throw Error{ErrorCode::invalid_argument,
              fmt::format("{} = \"{}\": allowed are {}", option, value, allowed)};
}

std::vector<int> domains_with_cpus(const std::vector<std::vector<int>>& seats) {
  std::vector<int> domains;
  for (std::size_t domain = 0; domain < seats.size(); ++domain) {
    if (!seats[domain].empty()) {
      domains.push_back(static_cast<int>(domain));
    }
  }
  return domains;
}

/// Numbers of threads on each domain.
std::vector<std::size_t> thread_counts(const NumaOptions& options,
                                       const std::vector<std::vector<int>>& seats) {
  std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const auto& cpus : seats) {
    most = cpus.empty() ? most : std::min(most, cpus.size());
  }
  if (options.threads.empty()) {
    return steps_up_to(most, threads_factor);
  }
  std::vector<std::size_t> counts;
  for (const int count : read_ranges(options.threads, "--threads")) {
    if (count < 1 || static_cast<std::size_t>(count) > most) {
      refuse_option(
          "--threads", options.threads,
          fmt::format("numbers from 1 to {}, the CPUs of the smallest NUMA domain", most));
    }
    counts.push_back(static_cast<std::size_t>(count));
  }
  return counts;
}

std::size_t bytes_of(const NumaOptions& options, std::size_t threads) {
  const auto bytes = parse_bytes(options.size);
  const std::int64_t least = least_bytes_per_thread * static_cast<std::int64_t>(threads);
  if (!bytes || *bytes < least || *bytes % 4096 != 0) {
    refuse_option("--size", options.size,
                  fmt::format("multiples of 4 KiB such as \"64 MiB\", from {} on: 64 KiB for each "
                              "of {} threads",
                              format_bytes(least), threads));
  }
  return static_cast<std::size_t>(*bytes);
}

std::vector<Operation> operations_of(const NumaOptions& options, bool has_direct,
                                     std::vector<std::string>& notes) {
  std::vector<Operation> operations;
  for (const auto& name : options.operations.empty() ? operation_names() : options.operations) {
    const auto operation = operation_named(name);
    if (operation != Operation::direct_write && operation != Operation::direct_read) {
      operations.push_back(operation);
    } else if (has_direct) {
      operations.push_back(operation);
    } else {
      notes.push_back(name + " is left out: the file system has no O_DIRECT.");
    }
  }
  std::ranges::sort(operations);
  const auto repeated = std::ranges::unique(operations);
  operations.erase(repeated.begin(), repeated.end());
  return operations;
}

std::int64_t available_memory() {
  std::ifstream file{"/proc/meminfo"};
  std::string line;
  long long kib = 0;
  while (std::getline(file, line)) {
    if (std::sscanf(line.c_str(), "MemAvailable: %lld kB", &kib) == 1) {
      return kib << 10U;
    }
  }
  return std::numeric_limits<std::int64_t>::max();  // not told
}

void check_room(const NumaResults& results, std::size_t domains,
                const formats::FileSystemFacts& facts) {
  const auto file = static_cast<std::int64_t>(results.bytes * domains);
  // Source and target, each with all that is moved.
  const auto check = [&](std::int64_t needed, std::int64_t free, const std::string& of) {
    if (free < needed) {
      throw Error{
          ErrorCode::invalid_argument,
          fmt::format("--size {} for each of {} NUMA domains needs {} of {}, and {} are free",
                      format_bytes(static_cast<std::int64_t>(results.bytes)), domains,
                      format_bytes(needed), of, format_bytes(free))};
    }
  };
  check(2 * file, available_memory(), "memory");
  check(file, facts.free_bytes, results.directory);
}

/// Each trial once in each round, in a new order.
void measure(NumaBench& bench, NumaResults& results) {
  std::vector<std::size_t> order(results.trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random{1};
  fmt::print(stderr, "iocomp: {} ways of moving data, {} rounds\n", order.size(), results.rounds);
  for (std::size_t round = 0; round < results.rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const std::size_t number : order) {
      auto& result = results.trials[number];
      result.samples.push_back(bench.run(result.trial));
    }
    fmt::print(stderr, "iocomp: round {} of {}\n", round + 1, results.rounds);
  }
}

void note_misplaced(NumaResults& results) {
  std::size_t count = 0;
  std::string first;
  for (const auto& result : results.trials) {
    for (const auto& sample : result.samples) {
      if (!sample.misplaced.empty()) {
        first = count == 0 ? sample.misplaced : first;
        ++count;
      }
    }
  }
  if (count > 0) {
    results.notes.push_back(
        fmt::format("{} measurements are left out (*n: n of this way), because what they moved did "
                    "not lie where it was asked to: {}.",
                    count, first));
  }
}

std::string text_in(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};  // nothing where there is none
}

void write_settings(const NumaResults& results, const std::string& path) {
  const auto policies = policies_of(automatic_choices(results));
  const auto policy =
      '"' + (policies.busy == policies.idle ? placement::name_of(policies.busy) : "auto") + '"';
  write_text_file(path, config::edited(text_in(path), "writing", {{"policy", policy}}));
  fmt::print(stderr, "iocomp: {} has [writing] policy = {}\n", path, policy);
}

void run_numa(const NumaOptions& options) {
  if (options.rounds < 1 || options.rounds > 1000) {
    refuse_option("--rounds", std::to_string(options.rounds), "1 to 1000");
  }
  const auto facts = formats::file_system_of(OpenFolder{options.directory});
  const auto node = topology::this_machine();
  NumaResults results{.node = node,
                      .seats = placement::writer_seats(node),
                      .directory = options.directory,
                      .file_system = facts.type,
                      .rounds = static_cast<std::size_t>(options.rounds)};
  TrialLimits limits{.domains = domains_with_cpus(results.seats)};
  limits.threads = thread_counts(options, results.seats);
  results.bytes = bytes_of(options, std::ranges::max(limits.threads));
  check_room(results, limits.domains.size(), facts);
  NumaBench bench{node, options.directory, results.bytes};
  limits.operations = operations_of(options, bench.has_direct(), results.notes);
  for (const auto& trial : trials_within(limits)) {
    results.trials.push_back({.trial = trial});
  }
  if (limits.domains.size() == 1) {
    results.notes.push_back(
        "There is one NUMA domain with CPUs: no routes to compare, only numbers of threads.");
  }
  measure(bench, results);
  note_misplaced(results);
  if (!options.picture.empty()) {
    write_text_file(options.picture, heat_map_of(results));
  }
  if (options.json) {
    print(json_of(results));
  } else {
    fmt::print("{}", text_of(results));
  }
  if (!options.settings.empty()) {
    write_settings(results, options.settings);
  }
}

}  // namespace

void add_numa(CLI::App& app) {
  auto options = std::make_shared<NumaOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "numa", "Measure how fast data moves between NUMA domains: memory, threads, page cache");
  command->add_option("directory", options->directory, "Where the file is that is read and written")
      ->capture_default_str();
  command->add_option("--size", options->size, "Bytes to move for each NUMA domain")
      ->capture_default_str();
  command->add_option("--threads", options->threads,
                      "Numbers of threads on each domain, such as 1,2,4 (1, 4, 16 … and all)");
  take_list(*command->add_option("--only", options->operations,
                                 "Measure these of write, read, direct-write, direct-read, copy"),
            "WAY");
  command->add_option("--rounds", options->rounds, "How often each way is measured")
      ->capture_default_str();
  command->add_option("--svg", options->picture, "Draw a heat map into this file");
  command->add_option("--apply", options->settings,
                      "Write what auto shall take into this file of settings, such as iocomp.toml");
  command->add_flag("--json", options->json, "Print it as JSON");
  command->callback([options] { run_numa(*options); });
}

}  // namespace iocomp::command
