// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/timeline_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "iocomp/svg.h"
#include "trace/event.h"
#include "trace/merged.h"

namespace iocomp::command {
namespace {

constexpr double margin = 10;
constexpr double label_width = 190;
constexpr double axis_width = 1000;
constexpr double bar_height = 11;
constexpr double line_height = 14;
constexpr double band_title_height = 18;
constexpr double legend_height = 44;
constexpr std::size_t most_processes = 64;  // what does not fit is said, not drawn
constexpr double narrowest = 0.6;           // of what can be seen

constexpr auto event_kinds = static_cast<std::size_t>(trace::What::count_);
/// The colour of each kind of event, told apart by the colour-blind too (Okabe and Ito, and greys).
constexpr std::array<const char*, event_kinds> colours{"#b3d9f2", "#d55e00", "#cc79a7", "#c9c9c9",
                                                       "#8fd3bc", "#009e73", "#f0e442", "#0072b2",
                                                       "#e69f00", "#000000", "#7a5230"};

using Spans = std::vector<std::pair<double, double>>;  // apart, ascending

struct Line {
  trace::Row row = trace::Row::calls;
  std::map<trace::What, Spans> bars{};
};

// Bars that touch become one, so that a line has no more bars than pixels.
void add_bar(Spans& bars, double begin, double end) {
  end = std::max(end, begin + narrowest);
  if (!bars.empty() && begin <= bars.back().second + narrowest / 2) {
    bars.back().second = std::max(bars.back().second, end);
  } else {
    bars.emplace_back(begin, end);
  }
}

std::vector<Line> lines_of(const trace::PlacedProcess& process, double pixels_per_second) {
  std::map<trace::Row, Line> lines;
  for (const trace::PlacedEvent& event : process.events) {
    const trace::What what = event.event.what;
    Line& line = lines[trace::row_of(what)];
    line.row = trace::row_of(what);
    add_bar(line.bars[what], event.begin * pixels_per_second, event.end * pixels_per_second);
  }
  std::vector<Line> sorted;
  for (auto& [row, line] : lines) {
    sorted.push_back(std::move(line));
  }
  return sorted;
}

/// Seconds between two marks of the axis: 1, 2 or 5 times a power of ten, some ten of them.
double between_marks(double seconds) {
  const double rough = std::max(seconds, 1e-6) / 10;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::string seconds_text(double seconds, double step) {
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return fmt::format("{:.{}f}", seconds, decimals);
}

class TimelinePainter {
 public:
  explicit TimelinePainter(const trace::Merged& merged)
      : merged_{merged}, pixels_per_second_{axis_width / std::max(merged.seconds, 1e-6)} {}

  std::string paint() {
    const auto drawn = std::min(merged_.processes.size(), most_processes);
    paint_legend();
    double y = legend_height + 22;
    const double top = y;
    for (std::size_t i = 0; i < drawn; ++i) {
      y = paint_process(merged_.processes[i], y);
    }
    paint_axis(top, y);
    if (drawn < merged_.processes.size()) {
      y += 16;
      svg_.text(margin, y, 12, "start", "black",
                fmt::format("and {} more processes, not drawn", merged_.processes.size() - drawn));
    }
    return svg_.document(left() + axis_width + 4 * margin, y + margin);
  }

 private:
  static double left() { return margin + label_width; }

  void paint_legend() {
    double x = margin;
    for (std::size_t kind = 0; kind < event_kinds; ++kind) {
      const auto label = trace::name(static_cast<trace::What>(kind));
      svg_.box({x, margin, 14, bar_height}, colours[kind], "#707070");
      svg_.text(x + 19, margin + 9.5, 11, "start", "black", label);
      x += 40 + 7.0 * static_cast<double>(label.size());
    }
    svg_.text(margin, margin + 28, 11, "start", "#404040",
              fmt::format("seconds since the first event; {}",
                          merged_.clock_error == 0
                              ? "all processes have one clock"
                              : fmt::format("clocks of nodes agree to {:.0f} microseconds",
                                            1e6 * merged_.clock_error)));
  }

  double paint_process(const trace::PlacedProcess& process, double y) {
    svg_.text(margin, y + 12, 12, "start", "black", process.title());
    y += band_title_height;
    for (const Line& line : lines_of(process, pixels_per_second_)) {
      svg_.text(left() - 8, y + 9, 10, "end", "#404040", trace::name(line.row));
      svg_.box({left(), y, axis_width, bar_height}, "#f6f6f6", "none");
      for (const auto& [what, bars] : line.bars) {
        for (const auto& [begin, end] : bars) {
          svg_.box({left() + begin, y, end - begin, bar_height},
                   colours[static_cast<std::size_t>(what)], "none");
        }
      }
      y += line_height;
    }
    return y + 4;
  }

  void paint_axis(double top, double bottom) {
    const double step = between_marks(merged_.seconds);
    for (int mark = 0; mark * step <= merged_.seconds + step / 1e6; ++mark) {
      const double x = left() + mark * step * pixels_per_second_;
      svg_.box({x, top - 4, 0.5, bottom - top + 4}, "#a0a0a0", "none");
      svg_.text(x, top - 8, 10, "middle", "#404040", seconds_text(mark * step, step));
    }
  }

  const trace::Merged& merged_;
  double pixels_per_second_;
  Svg svg_;
};

}  // namespace

std::string picture_of(const trace::Merged& merged) { return TimelinePainter{merged}.paint(); }

}  // namespace iocomp::command
