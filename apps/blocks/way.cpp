// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/way.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "blocks/part.h"
#include "common/client_options.h"

namespace iocomp::apps::blocks {
namespace {

struct Known {
  const char* backend;
  const char* extension;
};
constexpr std::array known{Known{"posix", ".bin"}, Known{"mpiio", ".bin"},  Known{"hdf5", ".h5"},
                           Known{"netcdf", ".nc"}, Known{"pnetcdf", ".nc"}, Known{"adios2", ".bp"}};

std::string extension_of(const std::string& backend) {
  const auto* const found = std::ranges::find(known, backend, &Known::backend);
  return found == known.end() ? ".out" : found->extension;
}

Way iocomp_way(const std::string& asked, const std::string& program, bool may_be_missing) {
  const std::size_t colon = asked.find(':');
  Way way;
  way.backend = asked.substr(0, colon);
  if (colon != std::string::npos) way.mode = asked.substr(colon + 1);
  if (!way.mode.empty() && way.mode != "sync" && way.mode != "async") {
    throw std::runtime_error("--backend " + asked + ": the mode is sync or async");
  }
  way.label = "iocomp " + asked;
  way.name = program + "-" + way.backend + (way.mode.empty() ? "" : "-" + way.mode);
  way.extension = extension_of(way.backend);
  way.may_be_missing = may_be_missing;
  return way;
}

}  // namespace

std::vector<Way> ways_of(const Options& options, const std::string& program) {
  std::vector<Way> ways;
  if (options.uses_iocomp() && options.backends.empty()) {
    Way way;
    way.label = "iocomp";
    way.name = program;
    way.extension = ".out";
    ways.push_back(way);
  }
  const std::vector<std::string> none;
  for (const std::string& asked : options.uses_iocomp() ? options.backends : none) {
    if (asked != "all") {
      ways.push_back(iocomp_way(asked, program, false));
      continue;
    }
    for (const Known& each : known) {
      ways.push_back(iocomp_way(each.backend, program, true));
    }
  }
  for (const std::string& name : options.baselines) {
    const Baseline& found = baseline(name);
    Way way;
    way.label = name;
    way.name = program + "-baseline-" + name;
    way.extension = found.extension;
    way.baseline = &found;
    ways.push_back(way);
  }
  return ways;
}

std::string settings_of(const Options& options, const std::vector<Way>& ways, int ranks) {
  std::string text;
  for (const std::string& line : options.settings) text += line + "\n";
  for (const Way& way : ways) {
    if (way.baseline != nullptr) continue;
    for (const std::string& suffix : suffixes(options.layout, ranks)) {
      const std::string file = "files." + way.name + suffix;
      text += file + ".path = " + quoted(path_of(way, suffix, options, nullptr)) + "\n";
      text += file + ".existing = 'replace'\n";
      if (!way.backend.empty()) text += file + ".backend = " + quoted(way.backend) + "\n";
      if (!way.mode.empty()) text += file + ".mode = " + quoted(way.mode) + "\n";
      if (options.aggregators > 0) {
        text += file + ".aggregators = " +
                quoted(std::to_string(options.aggregators) + ' ' + options.aggregator_order) + "\n";
      }
    }
  }
  return text;
}

std::string path_of(const Way& way, const std::string& suffix, const Options& options,
                    const Session* session) {
  if (session != nullptr && way.baseline == nullptr) {
    return session->setting("files." + way.name + suffix + ".path");
  }
  return options.directory + "/" + way.name + suffix + way.extension;
}

}  // namespace iocomp::apps::blocks
