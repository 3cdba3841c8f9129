// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "placement/map.h"

namespace iocomp::command {

/// The options that describe a job, for `iocomp map` and `iocomp launch`.
struct JobOptions {
  std::string mapping;
  std::string policy;
  int ranks = 0;
  int compute_ranks = 0;
  int nodes = 0;
  int node_size = 0;
  int servers_per_node = 0;
  int every = 0;
  std::string ratio;
  std::vector<int> servers;
  std::vector<std::string> topologies;
  bool by_kernel = false;  ///< mapping sequential: asynchronous all the same
  std::string cpus;        ///< that may be used: "0-15,128-143"
};

void add_job_options(CLI::App& command, JobOptions& options);

/// The seats of all ranks, and the nodes below them.
struct JobMap {
  std::string mapping;  ///< empty when it was made from a policy
  std::string policy;   ///< empty when it was made from a mapping
  placement::Map map;
  placement::Machine machine;  ///< without nodes when none were described (policies alone)
  bool by_kernel = false;
  bool nodes_known = true;  ///< else nodes are what the policy takes for one

  [[nodiscard]] bool has_cpus() const noexcept {
    return !map.seats.empty() && map.seats.front().cpu >= 0;
  }
};

/// @throws Error naming what is impossible and the nearest that is possible.
[[nodiscard]] JobMap map_job(const JobOptions& options);

/// The settings with which the library does the same, by key: {"placement.policy", "tail"}.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> settings_of(const JobMap& job);

/// The nodes that the options describe; with none named, `default_nodes` of them.
[[nodiscard]] placement::Machine read_machine(const JobOptions& options, int default_nodes);

}  // namespace iocomp::command
