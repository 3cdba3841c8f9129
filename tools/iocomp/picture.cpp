// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "iocomp/job_map.h"
#include "iocomp/svg.h"
#include "placement/map.h"
#include "topology/node.h"

namespace iocomp::command {
namespace {

constexpr double gap = 6;
constexpr double title_height = 14;
constexpr double thread_width = 52;
constexpr double thread_height = 26;
constexpr double core_label_height = 11;
constexpr std::size_t most_cores = 512;  ///< on one picture; what does not fit is said, not drawn

/// Light for compute ranks, dark for their server.
struct Shade {
  const char* light;
  const char* dark;
};
constexpr std::array<Shade, 8> shades{{{"#cfe3f7", "#1f5fa8"},
                                       {"#fde0c2", "#b8560b"},
                                       {"#d3efd3", "#23752b"},
                                       {"#f8d0d0", "#a82424"},
                                       {"#e4d8f3", "#6a3fa0"},
                                       {"#e6d9d2", "#6d4a3c"},
                                       {"#cdeff0", "#137a80"},
                                       {"#f2edb8", "#857a0c"}}};

constexpr Shade without_server{"#e9eef3", "#303030"};
constexpr const char* not_allowed = "#a8a8a8";

/// A part of the machine that holds others side by side, or is a core.
struct Part {
  std::string title;
  const char* fill = "white";
  std::size_t columns = 1;
  std::vector<Part> parts{};
  const topology::Core* core = nullptr;
  double width = 0;
  double height = 0;
};

std::size_t square_columns(std::size_t count) {
  return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
}

Part core_part(const topology::Core& core) {
  return {.title = {},
          .core = &core,
          .width = thread_width,
          .height = core_label_height + thread_height * static_cast<double>(core.threads.size())};
}

using Key = std::function<int(const topology::Core&)>;

/// One level of the machine: its name, and the unit of this level that a core is in.
struct Level {
  std::string name;
  Key number;
  const char* fill;
};

std::vector<Part> divide(const std::vector<const topology::Core*>& cores,
                         const std::vector<Level>& levels, std::size_t depth) {
  std::vector<Part> parts;
  if (depth == levels.size()) {
    for (const auto* core : cores) {
      parts.push_back(core_part(*core));
    }
    return parts;
  }
  std::map<int, std::vector<const topology::Core*>> groups;
  for (const auto* core : cores) {
    groups[levels[depth].number(*core)].push_back(core);
  }
  for (const auto& [number, members] : groups) {
    Part part{.title = fmt::format("{} {}", levels[depth].name, number),
              .fill = levels[depth].fill,
              .parts = divide(members, levels, depth + 1)};
    part.columns = depth + 1 == levels.size() ? std::min<std::size_t>(part.parts.size(), 8)
                                              : square_columns(part.parts.size());
    parts.push_back(std::move(part));
  }
  return parts;
}

Part node_part(const topology::Node& node, std::string title) {
  std::vector<Level> levels{
      {"package", [](const topology::Core& core) { return core.package; }, "#f3f3f3"},
      {"NUMA", [](const topology::Core& core) { return core.numa; }, "#e8e8e8"}};
  if (node.l3_groups > 0) {
    levels.push_back({"L3", [](const topology::Core& core) { return core.l3; }, "#dcdcdc"});
  }
  std::vector<const topology::Core*> cores;
  for (const auto& core : node.cores) {
    cores.push_back(&core);
  }
  return {.title = std::move(title), .parts = divide(cores, levels, 0)};
}

/// Sizes of rows and columns follow from the largest part.
void measure(Part& part) {
  if (part.core != nullptr) {
    return;
  }
  double width = 0;
  double height = 0;
  for (auto& inner : part.parts) {
    measure(inner);
    width = std::max(width, inner.width);
    height = std::max(height, inner.height);
  }
  const auto columns = static_cast<double>(part.columns);
  const double rows = std::ceil(static_cast<double>(part.parts.size()) / columns);
  part.width = columns * (width + gap) + gap;
  part.height = title_height + rows * (height + gap) + gap;
}

/// Draws the ranks of one node into its parts.
class NodePainter {
 public:
  NodePainter(Svg& svg, const JobMap& job, int node) : svg_{svg}, job_{job} {
    for (std::size_t rank = 0; rank < job.map.seats.size(); ++rank) {
      const auto& seat = job.map.seats[rank];
      if (seat.serves) {
        shade_of_server_.emplace(static_cast<int>(rank), shade_of_server_.size() % shades.size());
      }
      if (seat.node == node) {
        ranks_on_[seat.cpu].push_back(static_cast<int>(rank));
      }
    }
  }

  void paint(const Part& part, double x, double y) {
    if (part.core != nullptr) {
      paint_core(*part.core, x, y);
      return;
    }
    svg_.box({x, y, part.width, part.height}, part.fill, "#808080");
    svg_.text(x + gap, y + title_height - 2, 10, "start", "#303030", part.title);
    const double width = (part.width - gap) / static_cast<double>(part.columns);
    const double height = part.parts.empty() ? 0 : part.parts.front().height + gap;
    for (std::size_t i = 0; i < part.parts.size(); ++i) {
      paint(part.parts[i], x + gap + width * static_cast<double>(i % part.columns),
            y + title_height + height * static_cast<double>(i / part.columns));
    }
  }

 private:
  void paint_core(const topology::Core& core, double x, double y) {
    std::vector<int> cpus;
    for (const auto& thread : core.threads) {
      cpus.push_back(thread.cpu);
    }
    svg_.text(x + thread_width / 2, y + core_label_height - 3, 7.5, "middle", "#606060",
              fmt::format("CPU {}", fmt::join(cpus, ",")));
    for (std::size_t i = 0; i < core.threads.size(); ++i) {
      paint_thread(core.threads[i], x,
                   y + core_label_height + thread_height * static_cast<double>(i));
    }
  }

  void paint_thread(const topology::Thread& thread, double x, double y) {
    const auto found = ranks_on_.find(thread.cpu);
    if (found == ranks_on_.end()) {
      svg_.box({x, y, thread_width, thread_height}, thread.allowed ? "white" : not_allowed,
               "#909090");
      return;
    }
    const auto& ranks = found->second;
    const double width = thread_width / static_cast<double>(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      paint_rank(ranks[i], {x + width * static_cast<double>(i), y, width, thread_height});
    }
  }

  void paint_rank(int rank, const Rectangle& where) {
    const auto& seat = job_.map.seats[static_cast<std::size_t>(rank)];
    const int server = seat.serves ? rank : seat.pair;
    const Shade shade = server < 0 ? without_server : shades[shade_of_server_.at(server)];
    svg_.box(where, seat.serves ? shade.dark : shade.light, "#505050");
    const double middle = where.x + where.width / 2;
    const char* colour = seat.serves ? "white" : "black";
    svg_.text(middle, where.y + 11.5, 10, "middle", colour,
              fmt::format("{}{}", seat.serves ? "S" : "", rank));
    if (seat.pair >= 0) {
      svg_.text(middle, where.y + 22.5, 8, "middle", colour,
                fmt::format("{} {}", seat.serves ? "←" : "→", seat.pair));
    }
  }

  Svg& svg_;
  const JobMap& job_;
  std::map<int, std::size_t> shade_of_server_;  // by rank, one after the other
  std::map<int, std::vector<int>> ranks_on_;    // by CPU
};

constexpr double legend_width = 760;

/// Boxes of these colours in a row, and what they mean. @return where the next one begins.
double paint_entry(Svg& svg, double x, double y, const std::vector<const char*>& fills,
                   const std::string& meaning) {
  constexpr double width = 22;
  for (const char* fill : fills) {
    svg.box({x, y, width, 14}, fill, "#505050");
    x += width + 2;
  }
  svg.text(x + 4, y + 11, 10, "start", "black", meaning);
  return x + 24 + 5.2 * static_cast<double>(meaning.size());
}

/// Every colour that a thread can have. @return its height.
double paint_legend(Svg& svg, const JobMap& job) {
  const auto servers =
      static_cast<std::size_t>(std::ranges::count_if(job.map.seats, &placement::Seat::serves));
  svg.text(gap, 16, 14, "start", "black",
           fmt::format("{}: {} compute ranks, {} servers",
                       job.mapping.empty() ? "policy " + job.policy : "mapping " + job.mapping,
                       job.map.seats.size() - servers, servers));
  std::vector<const char*> light;
  std::vector<const char*> dark;
  for (std::size_t i = 0; i < std::clamp<std::size_t>(servers, 1, shades.size()); ++i) {
    light.push_back(shades[i].light);
    dark.push_back(shades[i].dark);
  }
  const double x = paint_entry(svg, gap, 24, dark, "server (S), ← the first rank it serves");
  paint_entry(svg, x, 24, light, "compute rank, → its server, in its colour");
  double next =
      paint_entry(svg, gap, 42, {without_server.light}, "compute rank that has no server");
  next = paint_entry(svg, next, 42, {"white"}, "free hardware thread");
  paint_entry(svg, next, 42, {not_allowed}, "hardware thread not allowed");
  return 64;
}

/// The nodes that are drawn, measured.
std::vector<Part> node_parts(const JobMap& job) {
  const int used = job.map.seats.back().node + 1;
  std::vector<Part> parts;
  std::size_t cores = 0;
  for (int node = 0; node < used; ++node) {
    const auto& kind = job.machine.kinds[job.machine.kind_of_node[static_cast<std::size_t>(node)]];
    cores += kind.cores.size();
    if (node > 0 && cores > most_cores) {
      break;
    }
    parts.push_back(node_part(kind, fmt::format("node {} ({})", node, kind.source)));
    measure(parts.back());
  }
  return parts;
}

/// The number of nodes side by side, so that the picture has about the shape of a screen and little
/// of it is empty.
std::size_t columns_of(std::size_t nodes, double width, double height) {
  constexpr double screen = 1.6;
  const auto distance = [&](std::size_t count) {
    const auto columns = static_cast<double>(count);
    const double rows = std::ceil(static_cast<double>(nodes) / columns);
    return std::abs(std::log(columns * width / (rows * height) / screen)) +
           std::log(columns * rows / static_cast<double>(nodes));
  };
  std::size_t best = 1;
  for (std::size_t columns = 2; columns <= nodes; ++columns) {
    best = distance(columns) < distance(best) ? columns : best;
  }
  return best;
}

}  // namespace

std::string picture_of(const JobMap& job) {
  if (!job.has_cpus()) {
    throw Error{ErrorCode::invalid_argument,
                "--picture shows ranks on CPUs, and this policy has none: add --topology"};
  }
  Svg svg;
  const double top = paint_legend(svg, job);
  const auto parts = node_parts(job);
  double width = 0;
  double height = 0;
  for (const auto& part : parts) {
    width = std::max(width, part.width + gap);
    height = std::max(height, part.height + gap);
  }
  const auto columns = columns_of(parts.size(), width, height);
  for (std::size_t node = 0; node < parts.size(); ++node) {
    NodePainter{svg, job, static_cast<int>(node)}.paint(
        parts[node], gap + width * static_cast<double>(node % columns),
        top + height * static_cast<double>(node / columns));
  }
  double bottom = top + height * static_cast<double>((parts.size() + columns - 1) / columns);
  const auto used = static_cast<std::size_t>(job.map.seats.back().node) + 1;
  if (parts.size() < used) {
    svg.text(gap, bottom + 14, 12, "start", "black",
             fmt::format("and {} more nodes, not drawn", used - parts.size()));
    bottom += 20;
  }
  return svg.document(std::max(legend_width, gap + width * static_cast<double>(columns)),
                      bottom + gap);
}

}  // namespace iocomp::command
