// SPDX-License-Identifier: BSD-3-Clause
#include "topology/discover.h"

#include <hwloc.h>
#include <hwloc/bitmap.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/small_files.h"
#include "topology/node.h"

namespace iocomp::topology {
namespace {

/// 2 packages of 4 NUMA domains of 4 L3 groups of 4 cores; the sibling of thread i is i + 128
/// (ARCHER2 hardware documentation; Bhardwaj, Bartholomew, Parsons, CUG 2023).
constexpr const char* archer2 = "pack:2 numa:4 l3:4 core:4 pu:2(indexes=2*128:1*2)";

constexpr std::int64_t longest_xml_bytes = std::int64_t{1} << 28;

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const noexcept { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Topology empty_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    throw Error{ErrorCode::unsupported,
                std::string{"hwloc cannot start: "} + std::generic_category().message(errno)};
  }
  Topology topology{raw};
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0) {
    throw Error{ErrorCode::unsupported, std::string{"hwloc does not show what is disallowed: "} +
                                            std::generic_category().message(errno)};
  }
  return topology;
}

[[noreturn]] void refuse(const std::string& what, const std::string& allowed) {
  throw Error{ErrorCode::invalid_argument,
              what + " does not describe a node: allowed are archer2, an XML file of lstopo, or " +
                  allowed};
}

constexpr const char* synthetic_example =
    "hwloc's synthetic text such as \"pack:2 numa:4 core:8 pu:2\"";

// hwloc makes an object for each, as many as 32 bits count: for a slip of the pen it would take all
// memory.
constexpr unsigned long most_threads = 1UL << 16U;

// The number of hardware threads that the text describes, without repetitions beyond it: 16 for
// "pack:2 core:4(...) [numa] pu:2" and "2 4 2". Text that hwloc does not know is left to hwloc.
unsigned long threads_in(const std::string& text) {
  unsigned long threads = 1;
  for (std::size_t at = 0; at < text.size();) {
    const auto behind = [&](char end) { return std::min(text.find(end, at), text.size() - 1) + 1; };
    const auto letter = static_cast<unsigned char>(text[at]);
    if (letter == '[' || letter == '(') {
      at = behind(letter == '[' ? ']' : ')');
    } else if (std::isdigit(letter) != 0) {
      char* end = nullptr;
      const unsigned long count = std::strtoul(text.c_str() + at, &end, 0);
      if (count > most_threads || threads * count > most_threads) {
        return most_threads + 1;
      }
      threads *= std::max(count, 1UL);
      at = static_cast<std::size_t>(end - text.c_str());
    } else if (std::isspace(letter) != 0) {
      ++at;
    } else {
      at = behind(':');
    }
  }
  return threads;
}

// The reason why hwloc refuses a text that says all but the hardware threads, a common slip; else
// nothing.
std::string what_lacks_threads(const std::string& text) {
  const auto end = text.find_last_not_of(' ');
  if (end == std::string::npos) {
    return {};
  }
  const auto before = text.find_last_of(" ])", end);
  const std::string last = text.substr(before + 1, end - before);
  const bool is_named = last.find(':') != std::string::npos && last.find('(') == std::string::npos;
  if (!is_named || last.starts_with("pu:") || last.starts_with("PU:")) {
    return {};
  }
  return " (it ends with " + last + ": the last level has to be pu:N, N hardware threads in each)";
}

void set_synthetic(hwloc_topology_t topology, const std::string& text) {
  if (threads_in(text) > most_threads) {
    throw Error{ErrorCode::invalid_argument, '"' + text + "\" describes a node of more than " +
                                                 std::to_string(most_threads) +
                                                 " hardware threads"};
  }
  if (hwloc_topology_set_synthetic(topology, text.c_str()) != 0) {
    refuse('"' + text + '"' + what_lacks_threads(text), synthetic_example);
  }
}

void set_xml(hwloc_topology_t topology, const std::string& path) {
  std::optional<std::string> text;
  const Outcome read = outcome_of([&] { text = read_file(path, longest_xml_bytes); });
  if (!read.ok()) {
    throw Error{ErrorCode::invalid_argument, read.story};
  }
  if (!text) {
    throw Error{ErrorCode::invalid_argument, "there is no topology file " + path};
  }
  if (hwloc_topology_set_xmlbuffer(topology, text->c_str(), static_cast<int>(text->size()) + 1) !=
      0) {
    refuse("the file " + path, synthetic_example);
  }
}

void load(hwloc_topology_t topology, const std::string& source) {
  if (hwloc_topology_load(topology) != 0) {
    refuse(source, synthetic_example);
  }
}

int container(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t core) {
  hwloc_obj_t around = hwloc_get_ancestor_obj_by_type(topology, type, core);
  return around == nullptr ? -1 : static_cast<int>(around->logical_index);
}

/// The nearest of its NUMA domains; memory is attached beside the cores in hwloc, not above them.
int numa_of(hwloc_topology_t topology, hwloc_obj_t core) {
  const int os_index = hwloc_bitmap_first(core->nodeset);
  hwloc_obj_t domain =
      os_index < 0 ? nullptr
                   : hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(os_index));
  return domain == nullptr ? 0 : static_cast<int>(domain->logical_index);
}

Core describe_core(hwloc_topology_t topology, hwloc_obj_t core) {
  return {.package = std::max(0, container(topology, HWLOC_OBJ_PACKAGE, core)),
          .numa = numa_of(topology, core),
          .l3 = container(topology, HWLOC_OBJ_L3CACHE, core),
          .threads = {}};
}

/// The CPUs that this process may use: fewer than the cgroup allows if a launcher has bound it.
Bitmap allowed_cpus(hwloc_topology_t topology, bool heeds_binding) {
  Bitmap allowed{hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology))};
  const Bitmap bound{hwloc_bitmap_alloc()};
  if (heeds_binding && hwloc_topology_is_thissystem(topology) != 0 &&
      hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_bitmap_and(allowed.get(), allowed.get(), bound.get());
  }
  return allowed;
}

std::vector<int> domain_numbers(hwloc_topology_t topology) {
  std::vector<int> numbers;
  hwloc_obj_t domain = nullptr;
  while ((domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, domain)) != nullptr) {
    numbers.push_back(static_cast<int>(domain->os_index));
  }
  return numbers.empty() ? std::vector<int>{0} : numbers;
}

Node describe_loaded(hwloc_topology_t topology, const std::string& source,
                     bool heeds_binding = true) {
  const Bitmap allowed = allowed_cpus(topology, heeds_binding);
  Node node{.source = source,
            .packages = std::max(1, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE)),
            .numa_domains = std::max(1, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE)),
            .l3_groups = std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L3CACHE)),
            .cores = {},
            .numa_numbers = domain_numbers(topology)};
  // Cores are found from the hardware threads up: hwloc lists none if they lie at several depths,
  // as they do when caches belong to threads (virtual machines) and a core has one thread left.
  hwloc_obj_t last = nullptr;
  hwloc_obj_t thread = nullptr;
  while ((thread = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, thread)) != nullptr) {
    hwloc_obj_t around = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, thread);
    // Without cores (some virtual machines) every hardware thread counts as one.
    hwloc_obj_t core = around == nullptr ? thread : around;
    if (core != last) {
      node.cores.push_back(describe_core(topology, core));
      last = core;
    }
    node.cores.back().threads.push_back(
        {.cpu = static_cast<int>(thread->os_index),
         .allowed = hwloc_bitmap_isset(allowed.get(), thread->os_index) != 0});
  }
  return node;
}

bool looks_like_a_file(const std::string& text) {
  bool is_there = false;
  (void)outcome_of([&] { is_there = find_file(text).has_value(); });
  return is_there || std::string_view{text}.ends_with(".xml");
}

Node machine(bool heeds_binding) {
  const auto topology = empty_topology();
  // hwloc would read these itself, but take the real machine without a word when they are wrong.
  // NOLINTBEGIN(concurrency-mt-unsafe)
  if (const char* text = std::getenv("HWLOC_SYNTHETIC"); text != nullptr) {
    set_synthetic(topology.get(), text);
  } else if (const char* path = std::getenv("HWLOC_XMLFILE"); path != nullptr) {
    set_xml(topology.get(), path);
  }
  // NOLINTEND(concurrency-mt-unsafe)
  load(topology.get(), "this machine");
  return describe_loaded(topology.get(), "this machine", heeds_binding);
}

}  // namespace

Node this_machine() { return machine(true); }

Node whole_machine() { return machine(false); }

Node from_xml(const std::string& path) {
  const auto topology = empty_topology();
  set_xml(topology.get(), path);
  load(topology.get(), "the file " + path);
  return describe_loaded(topology.get(), path);
}

Node from_synthetic(const std::string& text) {
  const auto topology = empty_topology();
  set_synthetic(topology.get(), text);
  load(topology.get(), '"' + text + '"');
  return describe_loaded(topology.get(), text);
}

Node describe(const std::string& text) {
  if (text.empty() || text == "this") {
    return this_machine();
  }
  if (text == "archer2") {
    Node node = from_synthetic(archer2);
    node.source = text;
    return node;
  }
  return looks_like_a_file(text) ? from_xml(text) : from_synthetic(text);
}

}  // namespace iocomp::topology
