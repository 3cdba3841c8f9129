// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numa/heat_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "iocomp/numa/report.h"
#include "iocomp/numa/results.h"
#include "iocomp/numa/trial.h"
#include "iocomp/svg.h"
#include "placement/writer_policy.h"

namespace iocomp::command {
namespace {

constexpr double margin = 12;
constexpr double label_width = 250;
constexpr double cell_width = 84;
constexpr double cell_height = 22;
constexpr double text_height = 11;
constexpr double least_dark_text = 0.65;  ///< from here on text is white

/// White for nothing, dark blue for the whole.
std::string shade_of(double part) {
  const auto mix = [part](double full) { return std::lround(255 + part * (full - 255)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(31), mix(95), mix(168));
}

double highest_rate(const RateTable& table, std::size_t bytes) {
  double highest = 0;
  for (const auto& row : table.rows) {
    for (const auto* result : row.by_policy) {
      const auto rates = result == nullptr ? std::nullopt : result->rates(bytes);
      highest = rates ? std::max(highest, rates->median) : highest;
    }
  }
  return highest;
}

void draw_cell(Svg& svg, const Rectangle& where, const TrialResult* result, std::size_t bytes,
               double highest) {
  if (result == nullptr) {
    return;
  }
  const auto rates = result->rates(bytes);
  const double part = rates && highest > 0 ? rates->median / highest : 0;
  svg.box(where, rates ? shade_of(part) : "#f8d0d0", "white");
  svg.text(where.x + where.width / 2, where.y + where.height - 7, text_height, "middle",
           part >= least_dark_text ? "white" : "black",
           rates ? fmt::format("{:.2f}", rates->median) : "misplaced");
}

/// Returns where the next one begins.
double draw_table(Svg& svg, const RateTable& table, std::size_t bytes, double y) {
  svg.text(margin, y + 14, 13, "start", "black", in_words(table.operation));
  y += 32;
  for (std::size_t column = 0; column < table.policies.size(); ++column) {
    svg.text(margin + label_width + (static_cast<double>(column) + 0.5) * cell_width, y,
             text_height, "middle", "black", placement::name_of(table.policies[column]));
  }
  y += 6;
  const double highest = highest_rate(table, bytes);
  for (const auto& row : table.rows) {
    const std::size_t domains = row.trial.domains.size();
    svg.text(margin, y + cell_height - 7, text_height, "start", "black",
             fmt::format("memory {}, {} domain{}, {} thread{}", memory_text(row.trial), domains,
                         domains == 1 ? "" : "s", domains * row.trial.threads,
                         domains * row.trial.threads == 1 ? "" : "s"));
    for (std::size_t column = 0; column < row.by_policy.size(); ++column) {
      draw_cell(svg,
                {margin + label_width + static_cast<double>(column) * cell_width, y, cell_width,
                 cell_height},
                row.by_policy[column], bytes, highest);
    }
    y += cell_height;
  }
  return y + 2 * margin;
}

}  // namespace

std::string heat_map_of(const NumaResults& results) {
  Svg svg;
  std::size_t columns = 1;
  double y = margin;
  svg.text(margin, y + 12, text_height, "start", "#555555", "GiB/s, medians");
  y += 24;
  for (const auto& table : tables_of(results)) {
    columns = std::max(columns, table.policies.size());
    y = draw_table(svg, table, results.bytes, y);
  }
  return svg.document(2 * margin + label_width + static_cast<double>(columns) * cell_width, y);
}

}  // namespace iocomp::command
