// SPDX-License-Identifier: BSD-3-Clause
#include "session/seating.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/host.h"
#include "base/log.h"
#include "base/number_ranges.h"
#include "base/small_files.h"
#include "config/settings.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "placement/mapping.h"
#include "placement/placement.h"
#include "placement/seats.h"
#include "session/others.h"
#include "topology/binding.h"
#include "topology/discover.h"

namespace iocomp::session {
namespace {

std::string line(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) {
    text += std::to_string(number) + ' ';
  }
  return text;
}

std::vector<int> numbers(const std::string& line) {
  std::istringstream in{line};
  std::vector<int> found;
  for (int number = 0; in >> number;) {
    found.push_back(number);
  }
  return found;
}

}  // namespace

Seating::Seating(const mpi::Communicator& comm, const mpi::WaitPolicy& policy)
    : comm_{comm.raw()}, policy_{policy}, rank_{mpi::rank(comm)} {
  node_ = mpi::node_of(comm_, policy_, others);
  std::vector<int> mine{rank_};
  const auto cpus = topology::allowed_cpus();
  mine.insert(mine.end(), cpus.begin(), cpus.end());
  for (const auto& one : mpi::gather(node_.raw(), 0, line(mine), policy_, others)) {
    auto seat = numbers(one);
    ranks_.push_back(seat.front());
    cpus_.emplace_back(seat.begin() + 1, seat.end());
  }
  nodes_ = leads_node() ? 1 : 0;
  number_ = mpi::sum_before(comm_, nodes_, policy_, others);
  mpi::sum(comm_, std::span{&nodes_, 1}, policy_, others);
  if (leads_node()) {
    host_ = host_name();
    const Outcome known = outcome_of([this] { machine_ = topology::this_machine(); });
    if (!known.ok()) {
      log::warning("the topology of " + host_ + " is not known: " + known.story);
    }
  }
}

std::optional<int> Seating::by_seats(const placement::Request& request) {
  std::optional<std::vector<int>> local;
  if (leads_node() && ranks_.size() > 1) {
    // A request that is impossible is refused by place_rank, on all ranks.
    (void)outcome_of([&] {
      const auto servers = placement::servers_on_node(request, ranks_.size());
      local = placement::servers_by_seats(machine_, cpus_, static_cast<int>(servers));
    });
  }
  std::int64_t impossible = leads_node() && !local ? 1 : 0;
  mpi::maximum(comm_, std::span{&impossible, 1}, policy_, others);
  if (impossible != 0) {
    return std::nullopt;
  }
  std::vector<int> servers;
  if (leads_node()) {
    for (const int server : *local) {
      servers.push_back(ranks_[static_cast<std::size_t>(server)]);
    }
  }
  std::string text = line(servers);
  mpi::broadcast(node_.raw(), 0, text, policy_, others);
  return numbers(text).at(static_cast<std::size_t>(mpi::rank(node_)));
}

double Seating::core_share(bool computes) const {
  const auto cpus = topology::allowed_cpus();
  std::int64_t count = cpus.empty() ? 0 : cpus.back() + 1;
  mpi::maximum(node_.raw(), std::span{&count, 1}, policy_, others);
  std::vector<double> load(static_cast<std::size_t>(count), 0);
  for (const int cpu : cpus) {
    load[static_cast<std::size_t>(cpu)] = computes ? 1.0 / static_cast<double>(cpus.size()) : 0;
  }
  mpi::sum(node_.raw(), std::span{load}, policy_, others);
  if (cpus.empty()) {
    return 1;
  }
  double share = 0;
  for (const int cpu : cpus) {
    const double there = load[static_cast<std::size_t>(cpu)];
    share += computes ? std::min(1.0, 1.0 / there) : std::max(0.0, 1.0 - there);
  }
  return share / static_cast<double>(cpus.size());
}

// The server of each rank of this node, by its rank on the node; -1 if it is on no rank of the
// node.
std::vector<int> Seating::on_node(const std::vector<int>& server_of) const {
  std::vector<int> found;
  for (const int server : server_of) {
    const auto here = std::ranges::lower_bound(ranks_, server);
    found.push_back(
        here != ranks_.end() && *here == server ? static_cast<int>(here - ranks_.begin()) : -1);
  }
  return found;
}

std::string Seating::rows(const std::vector<int>& server_of, const std::vector<int>& here,
                          placement::Pairs& pairs) const {
  std::string text;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const int server = server_of[i];
    const bool serves = server == ranks_[i];
    text += std::to_string(ranks_[i]) + (serves ? "\tserver\t" : "\tcompute\t") + host_ + '\t' +
            std::to_string(number_) + '\t' + (cpus_[i].empty() ? "?" : number_ranges(cpus_[i])) +
            '\t';
    if (serves || server < 0) {
      text += "-\t-\n";
      continue;
    }
    const auto close = here[i] < 0 ? placement::Closeness::other_node
                                   : placement::closeness(machine_, cpus_[i],
                                                          cpus_[static_cast<std::size_t>(here[i])]);
    ++pairs.at(static_cast<std::size_t>(close));
    text += std::to_string(server) + '\t' + placement::text(close) + '\n';
  }
  return text;
}

void Seating::report(const std::string& path, const std::string& head, const std::string& table) {
  const auto parts = mpi::gather(comm_, 0, table, policy_, others);
  Outcome written;
  if (rank_ == 0) {
    std::string text = head + "# rank\trole\thost\tnode\tCPUs\tserver\thow close\n";
    for (const auto& part : parts) {
      text += part;
    }
    written = outcome_of([&] { write_file(path, text); });
    if (!written.ok()) {
      written = {ErrorCode::invalid_setting,
                 "placement.report = \"" + path + "\" cannot be written: " + written.story};
    }
  }
  written = mpi::agree(comm_, written, policy_, others);
  written.throw_unless_ok();
}

std::string Seating::check(int server, const std::string& reason,
                           const config::Settings& settings) {
  std::vector<int> server_of;
  for (const auto& one : mpi::gather(node_.raw(), 0, line({server}), policy_, others)) {
    server_of.push_back(numbers(one).front());
  }
  const auto here = on_node(server_of);
  std::int64_t strangers = placement::strangers(machine_, cpus_, here);
  mpi::sum(comm_, std::span{&strangers, 1}, policy_, others);
  placement::Pairs pairs{};
  const std::string table = rows(server_of, here, pairs);
  mpi::sum(comm_, pairs, policy_, others);
  const std::string asked = settings.text("placement.mapping");
  std::string found = placement::found_mapping(pairs) + " (" + placement::text(pairs);
  found += strangers == 0 ? ")"
                          : "; " + std::to_string(strangers) +
                                " compute ranks share a core with the server of others)";
  log::info("mapping: " + found);
  const std::string path = settings.text("placement.report");
  if (!path.empty()) {
    report(path, "# asked: " + asked + "\n# found: " + found + "\n# why: " + reason + '\n', table);
  }
  if (asked == "any" ||
      (strangers == 0 && placement::agrees(placement::mapping_named(asked), pairs))) {
    return {};
  }
  int size = 0;
  mpi::check(MPI_Comm_size(comm_, &size));
  const std::string options = "--mapping " + asked + " --ranks " + std::to_string(size);
  const std::string mismatch = "placement.mapping = \"" + asked + "\", but the ranks sit as " +
                               found + ": start the job with the line that `iocomp map " + options +
                               "` prints, or with `iocomp launch " + options + " -- PROGRAM`";
  if (settings.boolean("placement.strict")) {
    throw Error{ErrorCode::invalid_setting, mismatch};
  }
  return rank_ == 0 ? mismatch : std::string{};
}

}  // namespace iocomp::session
