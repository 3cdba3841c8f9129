// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/cost.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "iocomp/job_map.h"
#include "iocomp/number_list.h"
#include "iocomp/table.h"
#include "placement/exchange.h"
#include "placement/node_cpus.h"
#include "placement/order.h"
#include "placement/shares.h"

namespace iocomp::command {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error{ErrorCode::invalid_argument, what};
}

std::vector<int> read_grid(const std::string& text) {
  std::vector<int> grid;
  std::istringstream parts{text};
  for (std::string part; std::getline(parts, part, 'x');) {
    const auto extent = read_ranges(part, "--grid");
    if (extent.size() != 1 || extent.front() < 1) {
      refuse(fmt::format("--grid \"{}\": allowed are blocks per dimension, such as 8x4", text));
    }
    grid.push_back(extent.front());
  }
  return grid;
}

int block_count(const std::vector<int>& grid) {
  long blocks = 1;
  for (const int extent : grid) {
    blocks *= extent;
    if (blocks > 10'000'000) {
      refuse("--grid has more than 10000000 blocks, one for each rank");
    }
  }
  return static_cast<int>(blocks);
}

placement::Order read_order(const std::string& name) {
  if (name == "packed") {
    return placement::Order::packed;
  }
  if (name == "spread") {
    return placement::Order::spread;
  }
  refuse(fmt::format("--order {}: allowed are packed, spread", name));
}

placement::Affinity read_affinity(const std::string& name) {
  if (name == "accumulated") {
    return placement::Affinity::accumulated;
  }
  if (name == "distributed") {
    return placement::Affinity::distributed;
  }
  refuse(fmt::format("--affinity {}: allowed are accumulated, distributed", name));
}

placement::Exchange read_exchange(const JobOptions& job, const CostOptions& options) {
  if (options.grid.empty() || options.aggregators == 0) {
    refuse("--cost needs --grid, such as 8x4, and --aggregators, the number on each node");
  }
  const auto machine = read_machine(job, 1);
  if (machine.kinds.size() > 1) {
    refuse("--cost counts for nodes of one kind: name one --topology");
  }
  const placement::UsableCores cores{machine.kinds.front()};
  placement::Exchange exchange{.grid = read_grid(options.grid)};
  const int blocks = block_count(exchange.grid);
  if (job.ranks > 0 && job.ranks != blocks) {
    refuse(fmt::format("--ranks {} and --grid {} with {} blocks: each rank has one block",
                       job.ranks, options.grid, blocks));
  }
  const std::vector<int> room(machine.kind_of_node.size(), blocks);
  exchange.ranks_of_node = placement::even_shares(blocks, room);
  exchange.sockets = machine.kinds.front().packages;
  exchange.cores_per_socket = (cores.core_count() + exchange.sockets - 1) / exchange.sockets;
  exchange.aggregators_per_node = options.aggregators;
  exchange.order = read_order(options.order);
  exchange.affinity = read_affinity(options.affinity);
  return exchange;
}

void print_table(const std::vector<placement::SocketMessages>& messages) {
  std::vector<std::vector<std::string>> rows{{"node", "socket", "inter", "intra", "remote"}};
  for (const auto& one : messages) {
    rows.push_back({std::to_string(one.node), std::to_string(one.socket), std::to_string(one.inter),
                    std::to_string(one.intra), std::to_string(one.remote)});
  }
  fmt::print("{}", aligned(rows));
}

void print_json(const placement::Exchange& exchange,
                const std::vector<placement::SocketMessages>& messages) {
  nlohmann::ordered_json out{
      {"aggregators", placement::aggregators(exchange.order, exchange.ranks_of_node,
                                             exchange.aggregators_per_node)}};
  out["sockets"] = nlohmann::ordered_json::array();
  for (const auto& one : messages) {
    out["sockets"].push_back({{"node", one.node},
                              {"socket", one.socket},
                              {"inter", one.inter},
                              {"intra", one.intra},
                              {"remote", one.remote}});
  }
  fmt::print("{}\n", out.dump(1));
}

}  // namespace

void add_cost_options(CLI::App& command, CostOptions& options) {
  auto* cost = command.add_flag("--cost", options.wanted,
                                "Print the messages per socket when aggregators collect a grid");
  command
      .add_option("--grid", options.grid, "Blocks per dimension, the fastest first, such as 8x4")
      ->needs(cost);
  command.add_option("--aggregators", options.aggregators, "Aggregators on every node")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->needs(cost);
  command.add_option("--order", options.order, "Which ranks of a node aggregate: packed or spread")
      ->capture_default_str()
      ->needs(cost);
  command
      .add_option("--affinity", options.affinity,
                  "Ranks fill a socket first (accumulated) or go round-robin (distributed)")
      ->capture_default_str()
      ->needs(cost);
}

void print_cost(const JobOptions& job, const CostOptions& options, bool json) {
  if (!job.mapping.empty() || !job.policy.empty()) {
    refuse(
        "--cost takes --grid, --nodes, --topology, --aggregators, --order and --affinity, "
        "neither --mapping nor --policy");
  }
  const auto exchange = read_exchange(job, options);
  const auto messages = placement::exchange_messages(exchange);
  if (json) {
    print_json(exchange, messages);
  } else {
    print_table(messages);
  }
}

}  // namespace iocomp::command
