// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/report.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

namespace iocomp::apps::blocks {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<double> each(const std::vector<Sample>& samples, double Sample::* part) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*part);
  return values;
}

/// Best, median and worst of what so many seconds each mean for so many bytes.
nlohmann::json bandwidth(double bytes, const std::vector<double>& seconds) {
  const auto [least, most] = std::ranges::minmax(seconds);
  return {{"best", bytes / gib / least},
          {"median", bytes / gib / median(seconds)},
          {"worst", bytes / gib / most}};
}

nlohmann::json record_of(const Series& series, double bytes, double read_bytes) {
  const std::vector<Sample>& samples = series.samples;
  nlohmann::json record{{"is_iocomp", series.way.baseline == nullptr},
                        {"missing", series.is_missing}};
  if (series.is_missing) return record;
  record["seconds"] = each(samples, &Sample::seconds);
  record["gib_per_second"] = bandwidth(bytes, each(samples, &Sample::seconds));
  record["checked_repetitions"] = series.checked;
  for (const auto& [name, part] : {std::pair{"open_seconds", &Sample::open_seconds},
                                   std::pair{"put_seconds", &Sample::put_seconds},
                                   std::pair{"wait_seconds", &Sample::wait_seconds},
                                   std::pair{"finish_seconds", &Sample::finish_seconds},
                                   std::pair{"compute_seconds", &Sample::compute_seconds},
                                   std::pair{"cpu_seconds", &Sample::cpu_seconds}}) {
    record[name] = each(samples, part);
  }
  const std::vector<double> reading = each(samples, &Sample::read_seconds);
  if (std::ranges::min(reading) > 0) {
    record["read_seconds"] = reading;
    record["read_gib_per_second"] = bandwidth(read_bytes, reading);
  }
  return record;
}

/// The speed of iocomp over that of a baseline, repetition by repetition.
nlohmann::json ratio_of(const Series& iocomp, const Series& baseline) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < iocomp.samples.size(); ++i) {
    ratios.push_back(baseline.samples[i].seconds / iocomp.samples[i].seconds);
  }
  const auto [least, most] = std::ranges::minmax(ratios);
  return {{"median", median(ratios)}, {"least", least}, {"most", most}};
}

std::string number(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

void print_bandwidths(const nlohmann::json& ways, const char* key) {
  for (const auto& [label, way] : ways.items()) {
    std::cout << std::left << std::setw(26) << label << std::right;
    if (way["missing"].get<bool>()) {
      std::cout << "  iocomp was built without it\n";
      continue;
    }
    if (!way.contains(key)) {
      std::cout << "  nothing to tell\n";
      continue;
    }
    const nlohmann::json& found = way[key];
    for (const char* const which : {"best", "median", "worst"}) {
      std::cout << std::setw(10) << number(found[which].get<double>(), 3);
    }
    const int checked = way["checked_repetitions"];
    std::cout << (checked > 0 ? "  every element checked" : "") << '\n';
  }
}

/// One line per way of iocomp, one column per baseline.
void print_ratios(const nlohmann::json& all) {
  if (all.empty()) return;
  std::cout << "\nbandwidth of iocomp over that of a baseline, median (least to most)\n"
            << std::left << std::setw(26) << "" << std::right;
  for (const auto& [baseline, ratio] : all.front().items()) {
    std::cout << std::setw(22) << baseline;
  }
  for (const auto& [label, ratios] : all.items()) {
    std::cout << '\n' << std::left << std::setw(26) << label << std::right;
    for (const nlohmann::json& ratio : ratios) {
      std::cout << std::setw(22)
                << number(ratio["median"].get<double>(), 2) + " (" +
                       number(ratio["least"].get<double>(), 2) + " to " +
                       number(ratio["most"].get<double>(), 2) + ")";
    }
  }
  std::cout << '\n';
}

}  // namespace

nlohmann::json report(const Options& options, const std::vector<Series>& all, const Extents& shape,
                      int compute_ranks, double read_bytes) {
  const double bytes =
      static_cast<double>(product(shape)) * sizeof(double) * static_cast<double>(options.steps);
  constexpr const char* layouts[] = {"shared", "process", "node"};
  nlohmann::json result{{"shape", shape},
                        {"compute_ranks", compute_ranks},
                        {"bytes", static_cast<std::int64_t>(bytes)},
                        {"layout", layouts[static_cast<std::size_t>(options.layout)]},
                        {"repetitions", options.repetitions},
                        {"steps", options.steps},
                        {"durable", options.durable},
                        {"phase", options.phase},
                        {"ways", nlohmann::json::object()},
                        {"bandwidth_over_baseline", nlohmann::json::object()}};
  for (const Series& series : all) {
    result["ways"][series.way.label] = record_of(series, bytes, read_bytes);
    if (series.way.baseline != nullptr || series.is_missing) continue;
    for (const Series& other : all) {
      if (other.way.baseline == nullptr) continue;
      result["bandwidth_over_baseline"][series.way.label][other.way.label] =
          ratio_of(series, other);
    }
  }
  return result;
}

void print(const nlohmann::json& result) {
  std::cout << text(result["shape"].get<Extents>()) << " doubles, " << result["compute_ranks"]
            << " compute ranks, " << number(result["bytes"].get<double>() / gib, 3)
            << " GiB, layout " << result["layout"].get<std::string>() << ", "
            << (result["durable"].get<bool>() ? "until durable" : "until written") << ", "
            << result["repetitions"] << " repetitions\n\n"
            << "write, GiB/s                    best    median     worst\n";
  const nlohmann::json& ways = result["ways"];
  print_bandwidths(ways, "gib_per_second");
  const auto was_read = [](const nlohmann::json& way) { return way.contains("read_seconds"); };
  if (std::ranges::any_of(ways, was_read)) {
    std::cout << "\nread, GiB/s                     best    median     worst\n";
    print_bandwidths(ways, "read_gib_per_second");
  }
  print_ratios(result["bandwidth_over_baseline"]);
}

}  // namespace iocomp::apps::blocks
