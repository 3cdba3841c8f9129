// SPDX-License-Identifier: BSD-3-Clause
#include "company.h"

#include <mpi.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "meeting.h"
#include "play.h"
#include "surroundings.h"

namespace actor {
namespace {

void obey(const nlohmann::json& order) {
  const Surroundings surroundings{order.at("folder"),
                                  order.at("environment").get<std::map<std::string, std::string>>(),
                                  order.at("journals")};
  try {
    play(order.at("script"), order.at("journals"));
  } catch (const std::exception& error) {
    std::cerr << "actor: " << error.what() << '\n';  // into what this script printed
    throw;
  }
}

}  // namespace

void keep_company(const std::string& folder) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ifstream orders{folder + "/orders" + std::to_string(rank)};
  std::ofstream answers{folder + "/answers", std::ios::app};
  for (std::string path; std::getline(orders, path) && !path.empty();) {
    std::ifstream order{path};
    obey(nlohmann::json::parse(order));
    meet_asleep(MPI_COMM_WORLD);  // who has ended a session may still owe the others messages
    answers << rank << std::endl;
  }
}

}  // namespace actor
