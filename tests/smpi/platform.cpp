// SPDX-License-Identifier: BSD-3-Clause
// The machine that smpirun simulates: nodes as ARCHER2's, and the targets of its file system. A
// star: what lies between is no bottleneck but for traffic of many nodes at once.
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>

namespace s4u = simgrid::s4u;

namespace {

constexpr int cores_of_node = 128;
constexpr double core_speed = 18e9;           // not used: compute takes no time
constexpr double network_of_node = 25e9;      // bytes/s, each way
constexpr double latency_to_switch = 0.5e-6;  // s
constexpr double memory_of_node = 40e9;       // bytes/s, between ranks of a node
constexpr double latency_of_node = 0.3e-6;
constexpr double bisection = 0.5;  // of what all nodes together can send
constexpr int targets = 12;
constexpr double target_speed = 11.0 * (1 << 30);  // bytes/s

int nodes() {
  const char* const text = std::getenv("SMPI_NODES");
  return text == nullptr ? 1 : std::atoi(text);
}

}  // namespace

extern "C" void load_platform(const s4u::Engine& /*engine*/) {
  auto* const machine = s4u::create_floyd_zone("machine");
  auto* const between =
      machine->create_link("between", (nodes() + targets) * network_of_node * bisection)
          ->set_latency(latency_to_switch)
          ->seal();
  auto* const star = s4u::create_star_zone("star");
  star->set_parent(machine);
  const auto add = [&](const std::string& name) {
    auto* const host = star->create_host(name, core_speed)->set_core_count(cores_of_node);
    auto* const link = star->create_split_duplex_link("link-" + name, network_of_node)
                           ->set_latency(latency_to_switch)
                           ->seal();
    auto* const own = star->create_link("memory-" + name, memory_of_node)
                          ->set_latency(latency_of_node)
                          ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
                          ->seal();
    star->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, s4u::LinkInRoute::Direction::UP}, s4u::LinkInRoute(between)}, true);
    star->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(own)});
    return host;
  };
  for (int node = 0; node < nodes(); ++node) {
    add("node" + std::to_string(node))->seal();
  }
  for (int target = 0; target < targets; ++target) {
    auto* const host = add("target" + std::to_string(target));
    host->create_disk("disk", target_speed, target_speed)->seal();
    host->seal();
  }
  star->seal();
  machine->seal();
}
