// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/job_map.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "iocomp/number_list.h"
#include "iocomp/own_words.h"
#include "placement/map.h"
#include "placement/mapping.h"
#include "placement/placement.h"
#include "placement/population.h"
#include "placement/shares.h"
#include "topology/discover.h"
#include "topology/node.h"

namespace iocomp::command {
namespace {

constexpr int most_ranks = 10'000'000;
constexpr int most_nodes = 1'000'000;

[[noreturn]] void refuse_job(const std::string& what) {
  throw Error{ErrorCode::invalid_argument, what};
}

placement::Mapping read_mapping(const std::string& name) {
  const auto& names = placement::mapping_names();
  if (std::ranges::find(names, name) == names.end()) {
    try {
      static_cast<void>(placement::mapping_named(name));
    } catch (const Error& error) {
      refuse_job(error.what() + did_you_mean(name, names));
    }
  }
  return placement::mapping_named(name);
}

std::optional<placement::Ratio> read_ratio(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto colon = text.find(':');
  const auto compute = read_ranges(text.substr(0, colon), "--ratio");
  const auto servers = colon == std::string::npos ? std::vector<int>{1}
                                                  : read_ranges(text.substr(colon + 1), "--ratio");
  if (compute.size() != 1 || servers.size() != 1) {
    refuse_job(
        fmt::format("--ratio \"{}\": allowed is compute ranks per server, such as 4 or 7:2", text));
  }
  return placement::Ratio{compute.front(), servers.front()};
}

/// "3*archer2" is three such nodes.
std::pair<int, std::string> read_count(const std::string& text) {
  const auto digits = static_cast<std::size_t>(
      std::ranges::find_if_not(text, [](unsigned char c) { return std::isdigit(c) != 0; }) -
      text.begin());
  if (digits == 0 || digits >= text.size() || text[digits] != '*') {
    return {0, text};
  }
  const auto count = read_ranges(text.substr(0, digits), "nodes in --topology");
  if (count.front() < 1) {
    refuse_job(fmt::format("--topology \"{}\" describes no node: at least 1*", text));
  }
  return {count.front(), text.substr(digits + 1)};
}

topology::Node read_node(const std::string& text, const std::string& cpus) {
  auto node = topology::describe(text);
  if (!cpus.empty()) {
    topology::restrict_to(node, read_ranges(cpus, "--cpus"));
  }
  return node;
}

JobMap map_with_mapping(const JobOptions& options) {
  placement::MapRequest request;
  request.mapping = read_mapping(options.mapping);
  request.ranks = options.ranks;
  request.compute_ranks = options.compute_ranks;
  request.ratio = read_ratio(options.ratio);
  request.servers_per_node = options.servers_per_node;
  request.every = options.every;
  request.node_size = options.node_size;
  const int job = options.ranks > 0 ? options.ranks : 2 * options.compute_ranks;
  request.machine =
      read_machine(options, placement::nodes_needed(request.mapping, job, options.node_size));
  return {.mapping = options.mapping,
          .policy = {},
          .map = placement::map_ranks(request),
          .machine = request.machine};
}

placement::Request policy_request(const JobOptions& options) {
  placement::Request request;
  request.policy = placement::policy(options.policy);
  request.servers_per_node = options.servers_per_node;
  request.node_size = options.node_size;
  request.servers = options.servers;
  if (const auto ratio = read_ratio(options.ratio); ratio) {
    if (ratio->servers != 1) {
      refuse_job(fmt::format("--ratio {}: a policy takes compute ranks per server, nearest is {}",
                             options.ratio,
                             std::max(1, ratio->compute / std::max(1, ratio->servers))));
    }
    request.ratio = ratio->compute;
  }
  if (options.policy == "auto" && (request.servers_per_node > 0 || request.ratio > 1)) {
    request.policy = placement::Policy::spread;  // as the session does
  }
  return request;
}

/// Ranks shared out evenly among nodes, numbered node by node.
std::vector<int> even_nodes(int ranks, int nodes) {
  const auto shares =
      placement::even_shares(ranks, std::vector<int>(static_cast<std::size_t>(nodes), ranks));
  std::vector<int> node_of_rank;
  for (std::size_t node = 0; node < shares.size(); ++node) {
    node_of_rank.insert(node_of_rank.end(), static_cast<std::size_t>(shares[node]),
                        static_cast<int>(node));
  }
  return node_of_rank;
}

/// placement.node_size makes a policy count nodes itself.
std::vector<int> nodes_as_told(int ranks, int node_size) {
  std::vector<int> node_of_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    node_of_rank.push_back(rank / node_size);
  }
  return node_of_rank;
}

JobMap map_with_policy(const JobOptions& options) {
  if (options.ranks == 0) {
    refuse_job("--policy needs --ranks, the number of ranks of the job");
  }
  if (options.every > 0 || options.compute_ranks > 0) {
    refuse_job("--every and --compute-ranks belong to --mapping, not to --policy");
  }
  const auto request = policy_request(options);
  JobMap job{.mapping = {}, .policy = options.policy, .map = {}, .machine = {}};
  job.nodes_known = options.nodes > 0 || !options.topologies.empty();
  const int told =
      options.node_size > 0 ? (options.ranks + options.node_size - 1) / options.node_size : 1;
  if (!options.topologies.empty()) {
    job.machine = read_machine(options, told);
  }
  const int nodes = !job.machine.kind_of_node.empty()
                        ? static_cast<int>(job.machine.kind_of_node.size())
                    : options.nodes > 0 ? options.nodes
                                        : told;
  const auto real = options.node_size > 0 && !job.nodes_known
                        ? nodes_as_told(options.ranks, options.node_size)
                        : even_nodes(options.ranks, nodes);
  job.map = placement::map_policy(
      request, options.node_size > 0 ? nodes_as_told(options.ranks, options.node_size) : real);
  for (std::size_t rank = 0; rank < real.size(); ++rank) {
    job.map.seats[rank].node = real[rank];
  }
  if (!options.topologies.empty()) {
    placement::seat_in_order(job.map, job.machine);
  }
  return job;
}

std::string policy_name(placement::Policy policy) {
  switch (policy) {
    case placement::Policy::halves:
      return "halves";
    case placement::Policy::spread:
      return "spread";
    case placement::Policy::packed:
      return "packed";
    case placement::Policy::tail:
      return "tail";
    case placement::Policy::list:
      return "list";
  }
  throw Error{ErrorCode::internal, "a policy without a name"};
}

}  // namespace

void add_job_options(CLI::App& command, JobOptions& options) {
  auto* mapping = command.add_option("--mapping", options.mapping,
                                     "Where ranks sit: sequential, consecutive, hyperthread, "
                                     "oversubscribe, l3, numa, node or nodes");
  command
      .add_option("--policy", options.policy,
                  "Instead: which ranks serve: halves, spread, packed, tail, or list (--servers)")
      ->excludes(mapping);
  auto* ranks = command.add_option("--ranks", options.ranks,
                                   "Ranks of the whole job, servers included; else as many as fit");
  ranks->check(CLI::Range(1, most_ranks));
  command.add_option("--compute-ranks", options.compute_ranks, "Instead: ranks that compute")
      ->check(CLI::Range(1, most_ranks))
      ->excludes(ranks);
  command.add_flag("--kernel", options.by_kernel,
                   "Mapping sequential: write asynchronously, by the kernel");
  command.add_option("--nodes", options.nodes, "Nodes of the job (1, or what --node-size needs)")
      ->check(CLI::Range(1, most_nodes));
  command
      .add_option(
          "--node-size", options.node_size,
          "Ranks of a group (consecutive, hyperthread, oversubscribe, policy halves: groups "
          "of compute ranks and of servers alternate); else ranks per node")
      ->check(CLI::Range(1, most_nodes));
  auto* ratio = command.add_option("--ratio", options.ratio,
                                   "Compute ranks per server, such as 4 or 7:2 (1; l3, numa: a "
                                   "server in every domain)");
  command
      .add_option("--servers-per-node", options.servers_per_node,
                  "Servers of every node, instead of a ratio")
      ->check(CLI::Range(1, most_nodes))
      ->excludes(ratio);
  command
      .add_option("--every", options.every,
                  "Mapping nodes: every M-th node serves (2, or ratio + 1)")
      ->check(CLI::Range(1, most_nodes));
  take_list(*command.add_option("--servers", options.servers, "Policy list: the ranks that serve"),
            "INT");
  command
      .add_option("--topology", options.topologies,
                  "What the nodes are: archer2, FILE.xml of lstopo, or hwloc's synthetic text; "
                  "\"3*archer2\" is three nodes; once per kind of node (this machine)")
      ->option_text("[N*]NODE")
      ->allow_extra_args(false);
  command.add_option("--cpus", options.cpus,
                     "CPUs of each node that may be used, such as 0-63,128-191 (all allowed ones)");
}

placement::Machine read_machine(const JobOptions& options, int default_nodes) {
  placement::Machine machine;
  const auto texts =
      options.topologies.empty() ? std::vector<std::string>{"this"} : options.topologies;
  bool counted = texts.size() > 1;
  for (const auto& text : texts) {
    const auto [count, description] = read_count(text);
    counted = counted || count > 0;
    if (machine.kind_of_node.size() + static_cast<std::size_t>(count) > std::size_t{most_nodes}) {
      refuse_job(fmt::format("--topology describes more than {} nodes", most_nodes));
    }
    machine.kind_of_node.insert(machine.kind_of_node.end(),
                                static_cast<std::size_t>(std::max(count, 1)), machine.kinds.size());
    machine.kinds.push_back(read_node(description, options.cpus));
  }
  if (!counted) {
    const int nodes = options.nodes > 0 ? options.nodes : std::max(default_nodes, 1);
    machine.kind_of_node.assign(static_cast<std::size_t>(nodes), 0);
  }
  if (options.nodes > 0 && machine.kind_of_node.size() != static_cast<std::size_t>(options.nodes)) {
    refuse_job(
        fmt::format("--nodes {}, but --topology describes {}: they must agree, or name one kind "
                    "without a count",
                    options.nodes, machine.kind_of_node.size()));
  }
  return machine;
}

JobMap map_job(const JobOptions& options) {
  if (options.by_kernel && options.mapping != "sequential") {
    refuse_job(
        "--kernel belongs to --mapping sequential: the kernel writes where there are no servers");
  }
  if (!options.policy.empty()) {
    return map_with_policy(options);
  }
  if (options.mapping.empty()) {
    refuse_job("say --mapping or --policy: where the ranks sit, or which of them serve");
  }
  if (!options.servers.empty()) {
    refuse_job("--servers belongs to --policy list: a mapping chooses the servers itself");
  }
  JobMap job = map_with_mapping(options);
  job.by_kernel = options.by_kernel;
  return job;
}

std::vector<std::pair<std::string, std::string>> settings_of(const JobMap& job) {
  if (job.mapping == "sequential") {
    const std::pair<std::string, std::string> how =
        job.by_kernel ? std::pair{"placement.servers", "none"} : std::pair{"mode", "sync"};
    return {how, {"placement.mapping", job.mapping}};
  }
  const auto& wanted = job.map.settings;
  std::vector<std::pair<std::string, std::string>> settings;
  if (wanted.policy != placement::Policy::list) {
    settings.emplace_back("placement.policy", policy_name(wanted.policy));
  }
  if (std::ranges::count(placement::mapping_names(), job.mapping) > 0) {
    settings.emplace_back("placement.mapping", job.mapping);  // read back and compared at start-up
  }
  if (wanted.node_size > 0) {
    settings.emplace_back("placement.node_size", std::to_string(wanted.node_size));
  }
  const bool per_node =
      wanted.policy != placement::Policy::halves && wanted.policy != placement::Policy::list;
  if (per_node && wanted.servers_per_node > 0) {
    settings.emplace_back("placement.servers", fmt::format("{}-per-node", wanted.servers_per_node));
  } else if (per_node) {
    settings.emplace_back("placement.servers", fmt::format("1-per-{}", wanted.ratio));
  }
  if (!wanted.servers.empty()) {
    settings.emplace_back("placement.servers", '[' + comma_separated(wanted.servers) + ']');
  }
  return settings;
}

}  // namespace iocomp::command
