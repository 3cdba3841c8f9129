// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/job_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "iocomp/job_map.h"
#include "iocomp/launch_line.h"
#include "placement/map.h"

namespace iocomp::command {
namespace {

Json number_or_null(int number) { return number < 0 ? Json(nullptr) : Json(number); }

}  // namespace

std::vector<std::vector<int>> clients_of(const placement::Map& map) {
  std::vector<std::vector<int>> clients(map.seats.size());
  for (std::size_t rank = 0; rank < map.seats.size(); ++rank) {
    const auto& seat = map.seats[rank];
    if (!seat.serves && seat.pair >= 0) {
      clients[static_cast<std::size_t>(seat.pair)].push_back(static_cast<int>(rank));
    }
  }
  return clients;
}

Json json_of(const JobMap& job, const Launch& launch) {
  Json out;
  if (job.policy.empty()) {
    out["mapping"] = job.mapping;
  } else {
    out["mapping"] = nullptr;
    out["policy"] = job.policy;
  }
  out["settings"] = Json::object();
  for (const auto& [key, value] : settings_of(job)) {
    out["settings"][key] = value;
  }
  out["launch"] = launch.line();
  out["environment"] = Json::object();
  for (const auto& [name, value] : launch.environment) {
    out["environment"][name] = value;
  }
  out["words"] = launch.words;
  if (!launch.rankfile.empty()) {
    out["rankfile"] = launch.rankfile;
  }
  const auto clients = clients_of(job.map);
  out["ranks"] = Json::array();
  for (std::size_t rank = 0; rank < job.map.seats.size(); ++rank) {
    const auto& seat = job.map.seats[rank];
    Json entry{{"rank", rank},
               {"role", seat.serves ? "server" : "compute"},
               {"node", seat.node},
               {"cpu", number_or_null(seat.cpu)},
               {"pair", number_or_null(seat.pair)}};
    if (seat.serves) {
      entry["clients"] = clients[rank];
    }
    out["ranks"].push_back(std::move(entry));
  }
  return out;
}

}  // namespace iocomp::command
