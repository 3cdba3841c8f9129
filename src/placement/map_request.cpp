// SPDX-License-Identifier: BSD-3-Clause
#include "placement/map_request.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/error.h"
#include "placement/mapping.h"
#include "placement/node_cpus.h"

namespace iocomp::placement {
namespace {

void check_ratio(const MapRequest& request) {
  if (!request.ratio) {
    return;
  }
  const auto [compute, servers] = *request.ratio;
  if (compute < 1 || servers < 1) {
    impossible("ratio " + number_text(compute) + ':' + number_text(servers) +
               " leaves ranks without a server: nearest is " + number_text(std::max(compute, 1)) +
               ":1");
  }
  if (servers > compute) {
    impossible("ratio " + number_text(compute) + ':' + number_text(servers) +
               " asks for more servers than compute ranks, but every server needs a compute rank: "
               "nearest is 1:1");
  }
}

void check_combination(const MapRequest& request) {
  const bool pairs = in_groups(request);
  if (pairs && ((request.ratio && request.ratio->compute != request.ratio->servers) ||
                request.servers_per_node > 0)) {
    impossible("node size " + number_text(request.node_size) + " with mapping " +
               name_of(request.mapping) +
               " makes groups of pairs (policy halves), so the ratio must be 1:1; leave the node "
               "size out, or the ratio");
  }
  if (request.every != 0 && request.mapping != Mapping::nodes) {
    impossible("\"every " + number_text(request.every) +
               "-th node\" belongs to mapping nodes, not to " + name_of(request.mapping));
  }
  if (request.mapping == Mapping::nodes && request.ratio && request.ratio->servers != 1) {
    impossible("mapping nodes takes whole nodes, so its ratio is m-1 : 1; asked for " +
               number_text(request.ratio->compute) + ':' + number_text(request.ratio->servers) +
               ", nearest is " +
               number_text((request.ratio->compute + request.ratio->servers - 1) /
                           request.ratio->servers) +
               ":1");
  }
}

void check_serving_nodes(const MapRequest& request) {
  const auto nodes = request.machine.kind_of_node.size();
  const auto period = serving_period(request);
  if (period < 2) {
    impossible("every node would serve and none compute: nearest is every 2nd node");
  }
  if (nodes < period) {
    impossible("every " + std::to_string(period) + "-th node serves, but there is only " +
               nodes_text(nodes) + ": nearest is " +
               (nodes < 2 ? std::string{"2 nodes, every 2nd of which serves"}
                          : "every " + std::to_string(nodes) + "-th node"));
  }
}

void check_nodes(const MapRequest& request) {
  if (request.mapping == Mapping::nodes) {
    check_serving_nodes(request);
  }
  for (const auto& node : request.machine.kinds) {
    if (request.mapping == Mapping::l3 && node.l3_groups == 0) {
      impossible("mapping l3 needs L3 caches, and " + node.source +
                 " describes none: nearest is mapping numa, with " +
                 number_text(node.numa_domains) +
                 (node.numa_domains == 1 ? " domain" : " domains"));
    }
    const UsableCores cores{node};
    if (request.mapping == Mapping::hyperthread && cores.smt_core_count() == 0) {
      impossible(
          "mapping hyperthread needs cores with two hardware threads that are allowed, and " +
          node.source + " has none among " + number_text(cores.core_count()) +
          " cores: nearest is mapping oversubscribe (servers share the hardware thread), or "
          "consecutive (servers on cores of their own)");
    }
  }
}

}  // namespace

void impossible(const std::string& what) { throw Error{ErrorCode::invalid_argument, what}; }

std::string number_text(int number) { return std::to_string(number); }

std::string nodes_text(std::size_t nodes) {
  return std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

bool in_groups(const MapRequest& request) {
  return request.node_size > 0 &&
         (request.mapping == Mapping::consecutive || request.mapping == Mapping::hyperthread ||
          request.mapping == Mapping::oversubscribe);
}

std::size_t serving_period(const MapRequest& request) {
  return static_cast<std::size_t>(request.every > 0 ? request.every
                                                    : request.ratio.value_or(Ratio{}).compute + 1);
}

void check(const MapRequest& request) {
  check_ratio(request);
  check_combination(request);
  check_nodes(request);
}

}  // namespace iocomp::placement
