// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/place.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/byte_size.h"
#include "base/open_folder.h"

namespace iocomp::command {

Place place_at(const std::string& directory, int writers) {
  const auto facts = formats::file_system_of(OpenFolder{directory});
  return {.directory = directory,
          .writers = writers,
          .facts = facts,
          .advice = formats::advise(facts, writers, directory)};
}

std::vector<std::vector<std::string>> rows_of(const Place& place) {
  const auto& facts = place.facts;
  const auto& advice = place.advice;
  std::vector<std::vector<std::string>> rows{
      {"directory", place.directory},
      {"file system", facts.type},
      {"block size", format_bytes(facts.block_bytes)},
      {"free", format_bytes(facts.free_bytes)},
      {"O_DIRECT", facts.takes_direct_io ? "yes" : "no"},
  };
  if (!advice.is_special) {
    rows.push_back({"advice", "nothing to choose on this file system"});
    return rows;
  }
  if (facts.kind == formats::FileSystemKind::lustre) {
    rows.push_back({"targets", facts.targets > 0 ? std::to_string(facts.targets) : "not told"});
    rows.push_back({"layout", facts.has_layout ? "chosen by somebody, and kept"
                                               : "new files get the one below"});
    for (const auto& part : advice.parts) {
      rows.push_back({part.end < 0 ? "stripes" : "stripes up to " + format_bytes(part.end),
                      part.targets > 0 ? std::to_string(part.targets) : "all (-1)"});
    }
    rows.push_back({"stripe size", format_bytes(advice.stripe_bytes)});
    rows.push_back({"aggregators", fmt::format("{} per stripe, for {} writers",
                                               advice.aggregators_per_stripe, place.writers)});
  }
  rows.push_back({"alignment", fmt::format("files.default.alignment = \"{}\"",
                                           format_bytes(advice.alignment_bytes))});
  for (const auto& [key, value] : advice.hints) {
    rows.push_back({"MPI-IO hint", fmt::format("{}={}", key, value)});
  }
  if (!advice.command.empty()) {
    rows.push_back({"once, by hand", advice.command});
  }
  return rows;
}

nlohmann::ordered_json json_of(const Place& place) {
  const auto& facts = place.facts;
  const auto& advice = place.advice;
  nlohmann::ordered_json out{
      {"directory", place.directory},       {"file_system", facts.type},
      {"block_bytes", facts.block_bytes},   {"free_bytes", facts.free_bytes},
      {"direct_io", facts.takes_direct_io}, {"has_layout", facts.has_layout},
  };
  out["advice"] = nullptr;
  if (advice.is_special) {
    nlohmann::ordered_json hints = nlohmann::ordered_json::object();
    for (const auto& [key, value] : advice.hints) {
      hints[key] = value;
    }
    auto stripes = nlohmann::ordered_json::array();
    for (const auto& part : advice.parts) {
      stripes.push_back({{"end", part.end}, {"targets", part.targets}});
    }
    out["advice"] = {{"writers", place.writers},
                     {"stripes", stripes},
                     {"stripe_bytes", advice.stripe_bytes},
                     {"alignment_bytes", advice.alignment_bytes},
                     {"aggregators_per_stripe", advice.aggregators_per_stripe},
                     {"hints", hints},
                     {"command", advice.command}};
  }
  return out;
}

}  // namespace iocomp::command
