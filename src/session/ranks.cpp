// SPDX-License-Identifier: BSD-3-Clause
#include "session/ranks.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/parse.h"
#include "config/settings.h"
#include "mpi/agree.h"
#include "mpi/deliver.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/peers.h"
#include "placement/placement.h"
#include "session/others.h"
#include "session/placing.h"
#include "session/seating.h"

namespace iocomp::session {
namespace {

constexpr int halves_tag = 21;
constexpr int greeting_tag = 22;
constexpr int answer_tag = 23;

placement::Request request_of(const config::Settings& settings) {
  placement::Request request;
  const auto policy = settings.text("placement.policy");
  request.policy = placement::policy(policy);
  // Checked when it was read.
  const auto asked = *config::parse_servers(settings.text("placement.servers"));
  request.servers_per_node = static_cast<int>(asked.per_node);
  request.ratio = static_cast<int>(std::max<std::int64_t>(1, asked.ratio));
  request.node_size = static_cast<int>(settings.integer("placement.node_size"));
  if (policy == "auto" && (request.servers_per_node > 0 || request.ratio > 1)) {
    request.policy = placement::Policy::spread;  // halves knows pairs only
  }
  for (const auto server : asked.ranks) {
    request.servers.push_back(static_cast<int>(server));
  }
  if (!request.servers.empty() && policy == "auto") {
    request.policy = placement::Policy::list;
  } else if (!request.servers.empty() && request.policy != placement::Policy::list) {
    throw Error{
        ErrorCode::invalid_setting,
        "placement.servers names ranks, so placement.policy is \"auto\", but it is set to \"" +
            policy + '"'};
  }
  return request;
}

}  // namespace

bool wants_servers(const config::Settings& settings) {
  const auto servers = *config::parse_servers(settings.text("placement.servers"));
  if (settings.text("mode") == "sync" || servers.are_none) {
    return false;
  }
  const auto mapping = settings.text("placement.mapping");
  return settings.text("transport.kind") != "auto" || settings.text("placement.policy") != "auto" ||
         (mapping != "any" && mapping != "sequential") || servers.are_wanted() ||
         settings.integer("placement.node_size") > 0;
}

Ranks::Ranks(const mpi::Communicator& all, const mpi::WaitPolicy& policy, std::string reason)
    : all_{all},
      policy_{policy},
      reason_{std::move(reason)},
      own_{mpi::duplicate(all.raw(), policy, others)} {}

Ranks::Ranks(const mpi::Communicator& all, const mpi::WaitPolicy& policy,
             const config::Settings& settings, Seating& seating)
    : all_{all}, policy_{policy} {
  place(settings, seating);
}

void Ranks::place(const config::Settings& settings, Seating& seating) {
  const auto request = request_of(settings);
  const auto policy = settings.text("placement.policy");
  const int rank = mpi::rank(all_);
  const int ranks = mpi::size(all_);
  // If the settings say what a node is, the seats of the ranks are not asked.
  const bool asks_seats =
      policy == "auto" && request.servers.empty() && request.node_size == 0 && ranks > 1;
  const auto by_seats = asks_seats ? seating.by_seats(request) : std::nullopt;
  std::int64_t nodes = seating.nodes();
  if (by_seats) {
    server_ = *by_seats;
  } else if (request.node_size == 0) {
    server_ = place_rank(all_, seating.node(), request, policy_);
  } else {
    mpi::gate(all_.raw(), policy_, others);
    MPI_Comm told = MPI_COMM_NULL;
    mpi::check(MPI_Comm_split(all_.raw(), rank / request.node_size, rank, &told));
    const mpi::Communicator node{told};
    server_ = place_rank(all_, node.raw(), request, policy_);
    nodes = (ranks + request.node_size - 1) / request.node_size;
  }
  role_ = server_ == rank ? Role::server : Role::compute;
  std::int64_t servers = role_ == Role::server ? 1 : 0;
  mpi::sum(all_.raw(), std::span{&servers, 1}, policy_, others);
  reason_ = placement::counts(static_cast<std::size_t>(ranks - servers),
                              static_cast<std::size_t>(servers), static_cast<std::size_t>(nodes));
  if (by_seats) {
    reason_ += ", chosen by where the ranks sit";
  } else if (policy != "auto") {
    reason_ += ", policy " + policy;
  } else if (request.policy == placement::Policy::list) {
    reason_ += ", named by placement.servers";
  } else {
    reason_ += request.policy == placement::Policy::halves ? ", in halves: " : ", spread: ";
    reason_ += request.node_size > 0 ? "placement.node_size says what a node is"
                                     : "not all ranks are bound to cores beside others";
  }
}

void Ranks::split() {
  mpi::gate(all_.raw(), policy_, others);
  MPI_Comm raw = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split(all_.raw(), serves() ? 1 : 0, mpi::rank(all_), &raw));
  own_ = mpi::Communicator{raw};
  mpi::check(MPI_Comm_set_errhandler(raw, MPI_ERRORS_RETURN));
  meet();
}

// Servers learn who their clients are, compute ranks the number of their server and who shares it.
void Ranks::meet() {
  const int rank = mpi::rank(all_);
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  std::array<std::int64_t, 2> leaders{serves() ? none : -rank, serves() ? -rank : none};
  mpi::maximum(all_.raw(), leaders, policy_, others);
  auto other_half = mpi::other_half(all_.raw(), own_.raw(),
                                    static_cast<int>(-leaders.at(serves() ? 0 : 1)), halves_tag);
  servers_ = {all_.raw(), serves() ? mpi::group_of(own_.raw()) : std::move(other_half)};

  const int number = mpi::rank(own_);
  std::vector<mpi::Letter> greetings;
  if (!serves()) {
    greetings.push_back({server_, {number}});
  }
  std::vector<mpi::Letter> answers;
  std::vector<int> answer{number};
  for (const auto& greeting : mpi::deliver(all_.raw(), greeting_tag, greetings, policy_, others)) {
    clients_.emplace(greeting.rank, greeting.numbers.front());
    answer.push_back(greeting.numbers.front());
  }
  for (const auto& client : clients_) {
    answers.push_back({client.first, answer});
  }
  for (const auto& letter : mpi::deliver(all_.raw(), answer_tag, answers, policy_, others)) {
    home_ = letter.numbers.front();
    neighbours_.assign(letter.numbers.begin() + 1, letter.numbers.end());
  }
}

}  // namespace iocomp::session
