// SPDX-License-Identifier: BSD-3-Clause
// Reads the input of `iocomp map`: its options, one a line, with lists of ranks, ratios and
// descriptions of nodes. What it makes of them is complete, and the library finds the same servers
// by the settings that it prints.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <ranges>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/number_ranges.h"
#include "fuzz/target.h"
#include "iocomp/cost.h"
#include "iocomp/job_map.h"
#include "iocomp/launch_line.h"
#include "iocomp/number_list.h"
#include "iocomp/picture.h"
#include "placement/placement.h"

// hwloc 2.9 forgets 32 bytes for every synthetic text that it refuses.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhwloc"; }

namespace iocomp::fuzz {
namespace {

// More is allowed, and slow.
constexpr int enough_ranks = 2000;
constexpr std::size_t enough_nodes = 100;
constexpr double enough_threads = 600;

struct Options {
  command::JobOptions job;
  command::CostOptions cost;
  std::string launcher = "slurm";
  std::vector<std::string> hosts;
};

bool parse(const std::string& text, Options& options) {
  CLI::App app{"map"};
  command::add_job_options(app, options.job);
  command::add_cost_options(app, options.cost);
  app.add_option("--launcher", options.launcher);
  app.add_option("--hosts", options.hosts)->delimiter(',')->allow_extra_args(false);
  std::vector<std::string> words;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    words.push_back(line.substr(0, line.find('\0')));
  }
  std::ranges::reverse(words);  // as CLI11 wants them
  try {
    app.parse(words);
    return true;
  } catch (const CLI::Error&) {
    return false;
  }
}

// At least the threads of a node, or the nodes before a '*'.
double size_of(const std::string& topology) {
  double size = 1;
  for (const char* at = topology.c_str(); *at != '\0';) {
    char* end = nullptr;
    const auto number = std::strtoul(at, &end, 0);
    size *= end == at ? 1 : std::max(1.0, static_cast<double>(number));
    at = end == at ? at + 1 : end;
  }
  return size;
}

bool is_quick(const Options& options) {
  const auto& job = options.job;
  return job.ranks <= enough_ranks && job.compute_ranks <= enough_ranks &&
         job.nodes <= static_cast<int>(enough_nodes) && job.topologies.size() <= 4 &&
         !job.topologies.empty() && std::ranges::all_of(job.topologies, [](const auto& text) {
           const double size = size_of(text);
           // Refused are those beyond; files and this machine are none of these texts.
           return (size <= enough_threads || size > 1e9) && text.find('/') == std::string::npos &&
                  text.find("this") == std::string::npos && !text.empty() && text.find('*') != 0 &&
                  text.find(".xml") == std::string::npos;
         });
}

void check_seats(const command::JobMap& job) {
  const auto& seats = job.map.seats;
  require(!seats.empty(), "a job without ranks");
  for (const auto& seat : seats) {
    require(seat.node >= 0, "a rank without a node");
    require(job.machine.kind_of_node.empty() ||
                static_cast<std::size_t>(seat.node) < job.machine.kind_of_node.size(),
            "a rank on a node that is not there");
    require(seat.pair >= -1 && seat.pair < static_cast<int>(seats.size()), "a pair that is none");
    if (seat.pair >= 0) {
      const auto& pair = seats[static_cast<std::size_t>(seat.pair)];
      require(pair.serves != seat.serves, "a pair of two alike");
    }
    if (seat.cpu >= 0) {
      const auto kind = job.machine.kind_of_node.at(static_cast<std::size_t>(seat.node));
      const auto& cores = job.machine.kinds.at(kind).cores;
      require(std::ranges::any_of(cores,
                                  [&](const auto& core) {
                                    return std::ranges::any_of(
                                        core.threads, [&](const auto& thread) {
                                          return thread.cpu == seat.cpu && thread.allowed;
                                        });
                                  }),
              "a rank on a CPU that it may not use");
    }
  }
}

// By the settings alone, as the library does it.
void check_settings(const command::JobMap& job) {
  const auto& seats = job.map.seats;
  if (std::ranges::none_of(seats, [](const auto& seat) { return seat.serves; }) ||
      !job.nodes_known) {
    return;
  }
  std::vector<int> node_of_rank;
  std::vector<int> numbers;  // nodes are numbered in the order of their first ranks
  for (const auto& seat : seats) {
    const auto known = std::ranges::find(numbers, seat.node);
    node_of_rank.push_back(static_cast<int>(known - numbers.begin()));
    if (known == numbers.end()) {
      numbers.push_back(seat.node);
    }
  }
  if (job.map.settings.node_size > 0 && job.map.settings.policy != placement::Policy::halves) {
    for (std::size_t rank = 0; rank < seats.size(); ++rank) {
      node_of_rank[rank] = static_cast<int>(rank) / job.map.settings.node_size;
    }
  }
  const auto placement = placement::place(job.map.settings, node_of_rank);
  std::vector<int> servers;
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    if (seats[rank].serves) {
      servers.push_back(static_cast<int>(rank));
    }
  }
  require(placement.servers == servers, "the library would choose other servers");
  for (std::size_t i = 0; i < placement.compute.size(); ++i) {
    const auto& seat = seats[static_cast<std::size_t>(placement.compute[i])];
    require(seat.pair == placement.servers[static_cast<std::size_t>(placement.home[i])],
            "the library would make other pairs");
  }
}

void check_job(const Options& options) {
  command::JobMap job;
  if (!accepts([&] { job = command::map_job(options.job); })) {
    return;
  }
  check_seats(job);
  must("the library would refuse the settings", [&] { check_settings(job); });
  (void)command::settings_of(job);
  (void)accepts([&] {
    const command::LaunchOptions launch{.launcher = command::launcher_named(options.launcher),
                                        .hosts = options.hosts,
                                        .program = {"./program"}};
    require(!command::launch_of(job, launch).line().empty(), "no line");
  });
  (void)accepts([&] { require(!command::picture_of(job).empty(), "no picture"); });
}

void check_list(const std::string& text) {
  std::vector<int> numbers;
  if (accepts([&] { numbers = command::read_ranges(text, "a list"); })) {
    require(command::read_ranges(number_ranges(numbers), "again") == numbers, "a list has changed");
  }
}

}  // namespace
}  // namespace iocomp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iocomp;
  [[maybe_unused]] static const std::FILE* const quiet = std::freopen("/dev/null", "w", stdout);
  fuzz::Material material{data, size};
  const bool is_list = material.up_to(7) == 0;
  const std::string text{material.text_left()};
  // A list of ranges may be a million numbers, hwloc takes its share.
  const fuzz::MemoryLimit limit{(std::size_t{64} << 20) + 64 * size};
  if (is_list) {
    fuzz::check_list(text);
    return 0;
  }
  fuzz::Options options;
  if (!fuzz::parse(text, options) || !fuzz::is_quick(options)) {
    return 0;
  }
  if (options.cost.wanted) {
    (void)fuzz::accepts([&] { command::print_cost(options.job, options.cost, true); });
  } else {
    fuzz::check_job(options);
  }
  return 0;
}
