// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/launch_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "config/edited.h"
#include "iocomp/job_map.h"
#include "iocomp/number_list.h"
#include "iocomp/other_programs.h"
#include "placement/map.h"
#include "topology/node.h"

namespace iocomp::command {
namespace {

/// Linux takes no variable longer than 128 KiB.
constexpr std::size_t longest_variable = 100'000;
constexpr const char* default_settings_file = "iocomp-placement.toml";
constexpr const char* default_rankfile = "iocomp.rankfile";

/// The ranks of one node that has any.
struct NodeRanks {
  int node = 0;
  std::size_t first = 0;
  std::vector<int> cpus{};
};

std::vector<NodeRanks> used_nodes(const JobMap& job) {
  std::vector<NodeRanks> nodes;
  for (std::size_t rank = 0; rank < job.map.seats.size(); ++rank) {
    const auto& seat = job.map.seats[rank];
    if (nodes.empty() || nodes.back().node != seat.node) {
      nodes.push_back({.node = seat.node, .first = rank});
    }
    nodes.back().cpus.push_back(seat.cpu);
  }
  return nodes;
}

bool shares_a_cpu(const NodeRanks& ranks) {
  return std::set<int>(ranks.cpus.begin(), ranks.cpus.end()).size() < ranks.cpus.size();
}

/// True if a rank sits on another than the first hardware thread of its core.
bool uses_siblings(const topology::Node& node, const NodeRanks& ranks) {
  std::set<int> siblings;
  for (const auto& core : node.cores) {
    for (std::size_t i = 1; i < core.threads.size(); ++i) {
      siblings.insert(core.threads[i].cpu);
    }
  }
  return std::ranges::any_of(ranks.cpus, [&](int cpu) { return siblings.contains(cpu); });
}

std::string variable_of(const std::string& key) {
  auto name = "IOCOMP_" + upper_case(key);
  std::ranges::replace(name, '.', '_');
  return name;
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// Makes the launch of one job for any launcher.
class Writer {
 public:
  Writer(const JobMap& job, const LaunchOptions& options)
      : job_{job}, options_{options}, nodes_{used_nodes(job)} {
    write_settings();
    if (!options.hosts.empty() && options.hosts.size() < nodes_.size()) {
      throw Error{ErrorCode::invalid_argument,
                  fmt::format("--hosts names {} nodes, and the job sits on {}",
                              options.hosts.size(), nodes_.size())};
    }
  }

  Launch write() {
    switch (options_.launcher) {
      case Launcher::slurm:
        slurm();
        break;
      case Launcher::openmpi:
        openmpi();
        break;
      case Launcher::mpich:
        mpich();
        break;
    }
    return std::move(launch_);
  }

 private:
  void write_settings() {
    auto settings = settings_of(job_);
    const bool too_long = std::ranges::any_of(
        settings, [](const auto& one) { return one.second.size() > longest_variable; });
    if (!too_long && options_.settings_file.empty()) {
      for (auto& [key, value] : settings) {
        variables_.emplace_back(variable_of(key), std::move(value));
      }
      return;
    }
    auto file = options_.settings_file;
    if (file.empty()) {
      file = default_settings_file;
      launch_.notes.push_back(fmt::format(
          "the list of servers is too long for a variable: write it with --settings {}", file));
    }
    variables_.emplace_back("IOCOMP_CONFIG", file);
    launch_.settings = options_.present_settings;
    for (const auto& [key, value] : settings) {
      const bool is_plain = key == "placement.node_size" || value.starts_with('[');
      const auto dot = key.find('.');
      const auto section = dot == std::string::npos ? std::string{} : key.substr(0, dot);
      launch_.settings = config::edited(
          launch_.settings, section, {{key.substr(dot + 1), is_plain ? value : '"' + value + '"'}});
    }
  }

  [[nodiscard]] std::size_t ranks() const { return job_.map.seats.size(); }

  [[nodiscard]] std::string host(std::size_t i) const {
    if (!options_.hosts.empty()) {
      return options_.hosts[i];
    }
    // +n1 is Open MPI's word for the second node of the allocation; without one it fails.
    return nodes_.size() == 1 ? "localhost" : fmt::format("+n{}", i);
  }

  [[nodiscard]] const topology::Node& kind(const NodeRanks& node) const {
    const auto& machine = job_.machine;
    return machine.kinds[machine.kind_of_node[static_cast<std::size_t>(node.node)]];
  }

  /// Nodes that follow one another and are filled alike: first and number.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> runs_of_equal_nodes() const {
    std::vector<std::pair<std::size_t, std::size_t>> runs;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!runs.empty() && nodes_[runs.back().first].cpus == nodes_[i].cpus) {
        ++runs.back().second;
      } else {
        runs.emplace_back(i, 1);
      }
    }
    return runs;
  }

  void slurm() {
    launch_.environment = variables_;
    launch_.words = {"srun"};
    if (!job_.nodes_known) {
      append(launch_.words, {fmt::format("--ntasks={}", ranks())});
      append(launch_.words, options_.program);
      return;
    }
    const auto runs = runs_of_equal_nodes();
    for (const auto& [first, count] : runs) {
      if (first > 0) {
        launch_.words.emplace_back(":");
      }
      slurm_step(first, count);
      append(launch_.words, options_.program);
    }
    if (job_.has_cpus()) {
      launch_.notes.push_back(fmt::format(
          "run it in an allocation of whole nodes (sbatch or salloc --exclusive --nodes={}): Slurm "
          "binds to no CPU outside of the allocation",
          nodes_.size()));
    }
    launch_.notes.emplace_back(
        "srun takes the MPI type of the site: if every rank finds itself alone, export "
        "SLURM_MPI_TYPE (pmix for Open MPI, pmi2 for MPICH; `srun --mpi=list`)");
    if (runs.size() > 1) {
      launch_.notes.emplace_back(
          "the nodes are filled differently: srun starts one part for each kind, all in one "
          "MPI_COMM_WORLD; --hosts pins the parts to nodes; with pmi2 it works outside of an "
          "allocation only");
    }
  }

  void slurm_step(std::size_t first, std::size_t count) {
    const auto& node = nodes_[first];
    append(launch_.words,
           {fmt::format("--nodes={}", count), fmt::format("--ntasks={}", count * node.cpus.size()),
            fmt::format("--ntasks-per-node={}", node.cpus.size()), "--distribution=block"});
    if (!options_.hosts.empty()) {
      launch_.words.push_back(fmt::format(
          "--nodelist={}",
          fmt::join(options_.hosts.begin() + static_cast<std::ptrdiff_t>(first),
                    options_.hosts.begin() + static_cast<std::ptrdiff_t>(first + count), ",")));
    }
    if (!job_.has_cpus()) {
      return;
    }
    if (uses_siblings(kind(node), node)) {
      launch_.words.emplace_back("--hint=multithread");
    }
    if (shares_a_cpu(node)) {
      launch_.words.emplace_back("--overcommit");
    }
    launch_.words.push_back("--cpu-bind=map_cpu:" + comma_separated(node.cpus));
  }

  void openmpi() {
    launch_.words = {"mpirun", "-n", std::to_string(ranks())};
    if (!options_.hosts.empty()) {
      std::vector<std::string> slots;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        slots.push_back(fmt::format("{}:{}", options_.hosts[i], nodes_[i].cpus.size()));
      }
      append(launch_.words, {"--host", fmt::format("{}", fmt::join(slots, ","))});
    }
    if (job_.has_cpus()) {
      write_rankfile();
    }
    for (const auto& [name, value] : variables_) {
      append(launch_.words, {"-x", name + "=" + value});
    }
    append(launch_.words, options_.program);
  }

  void write_rankfile() {
    // Without the second option a slot is hwloc's logical number, without the first a whole core.
    append(launch_.words, {"--use-hwthread-cpus", "--mca", "rmaps_rank_file_physical", "1"});
    if (std::ranges::any_of(nodes_, shares_a_cpu)) {
      append(launch_.words, {"--oversubscribe", "--bind-to", "hwthread:overload-allowed"});
    }
    append(launch_.words,
           {"--rankfile", options_.rankfile.empty() ? default_rankfile : options_.rankfile});
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (std::size_t rank = 0; rank < nodes_[i].cpus.size(); ++rank) {
        launch_.rankfile += fmt::format("rank {}={} slot={}\n", nodes_[i].first + rank, host(i),
                                        nodes_[i].cpus[rank]);
      }
    }
  }

  void mpich() {
    launch_.words = {"mpiexec", "-n", std::to_string(ranks())};
    const bool even = std::ranges::all_of(nodes_, [this](const NodeRanks& node) {
      return node.cpus.size() == nodes_.front().cpus.size();
    });
    if (!options_.hosts.empty()) {
      std::vector<std::string> slots;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        slots.push_back(fmt::format("{}:{}", options_.hosts[i], nodes_[i].cpus.size()));
      }
      append(launch_.words, {"-hosts", fmt::format("{}", fmt::join(slots, ","))});
    } else if (job_.nodes_known && even) {
      append(launch_.words, {"-ppn", std::to_string(nodes_.front().cpus.size())});
    } else if (job_.nodes_known) {
      refuse_mpich(
          "the nodes get different numbers of ranks, which needs their names: add --hosts");
    }
    if (job_.has_cpus()) {
      append(launch_.words, {"-bind-to", "user:" + comma_separated(longest_cpu_list())});
    }
    for (const auto& [name, value] : variables_) {
      append(launch_.words, {"-genv", name, value});
    }
    append(launch_.words, options_.program);
  }

  /// mpiexec applies one list to every node, from its beginning.
  [[nodiscard]] const std::vector<int>& longest_cpu_list() const {
    const auto& longest = std::ranges::max_element(nodes_, {}, [](const auto& node) {
                            return node.cpus.size();
                          })->cpus;
    for (const auto& node : nodes_) {
      if (!std::equal(node.cpus.begin(), node.cpus.end(), longest.begin())) {
        refuse_mpich(fmt::format(
            "it binds every node by the same list of CPUs, and node {} needs another one",
            node.node));
      }
    }
    return longest;
  }

  [[noreturn]] static void refuse_mpich(const std::string& why) {
    throw Error{ErrorCode::unsupported, "mpich's mpiexec cannot start this mapping: " + why +
                                            "; the launchers slurm and openmpi can"};
  }

  const JobMap& job_;
  const LaunchOptions& options_;
  std::vector<NodeRanks> nodes_;
  std::vector<std::pair<std::string, std::string>> variables_;
  Launch launch_;
};

}  // namespace

const std::vector<std::string>& launcher_names() {
  static const std::vector<std::string> names{// in the order of the enumeration
                                              "slurm", "openmpi", "mpich"};
  return names;
}

Launcher launcher_named(const std::string& name) {
  const auto found = std::ranges::find(launcher_names(), name);
  if (found == launcher_names().end()) {
    throw Error{ErrorCode::invalid_argument,
                fmt::format("there is no launcher \"{}\": allowed are {}", name,
                            fmt::join(launcher_names(), ", "))};
  }
  return static_cast<Launcher>(found - launcher_names().begin());
}

std::string Launch::line() const {
  std::string out;
  for (const auto& [name, value] : environment) {
    out += name + "=" + quoted(value) + " ";
  }
  for (const auto& word : words) {
    out += (&word == words.data() ? "" : " ") + quoted(word);
  }
  return out;
}

Launch launch_of(const JobMap& job, const LaunchOptions& options) {
  return Writer{job, options}.write();
}

}  // namespace iocomp::command
