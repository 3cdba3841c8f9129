#include "session/seating.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "config/settings.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "placement/mapping.h"
#include "placement/placement.h"
#include "placement/seats.h"
#include "topology/discover.h"

namespace iocomp::session {
namespace {

constexpr const char* others = "the other ranks in iocomp_init";

// What this process may run on, ascending.
std::vector<int> allowed_cpus() {
  for (int limit = 1024; limit <= 1 << 20; limit *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set{
        CPU_ALLOC(static_cast<std::size_t>(limit)), [](cpu_set_t* raw) { CPU_FREE(raw); }};
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(limit));
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<int> cpus;
      for (int cpu = 0; cpu < limit; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) {
          cpus.push_back(cpu);
        }
      }
      return cpus;
    }
    if (errno != EINVAL) {  // EINVAL: the kernel knows more CPUs than that
      break;
    }
  }
  return {};
}

// "0-3,128": as the kernel writes it.
std::string ranges(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) {
      ++end;
    }
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (end - i > 1) {
      text += '-' + std::to_string(cpus[end - 1]);
    }
    i = end;
  }
  return text.empty() ? "?" : text;
}

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

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

// By session rank its server; itself for servers and for ranks without one.
std::vector<int> servers_of(const placement::Placement& placement, std::size_t ranks) {
  std::vector<int> server_of(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    server_of[rank] = static_cast<int>(rank);
  }
  for (std::size_t i = 0; i < placement.home.size(); ++i) {
    server_of[static_cast<std::size_t>(placement.compute[i])] =
        placement.servers[static_cast<std::size_t>(placement.home[i])];
  }
  return server_of;
}

}  // namespace

Seating::Seating(const mpi::Communicator& comm, const mpi::WaitPolicy& policy)
    : comm_{comm.raw()}, policy_{policy} {
  const int rank = mpi::rank(comm);
  mpi::gate(comm_, policy_, others);
  MPI_Comm raw = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &raw));
  node_ = mpi::Communicator{raw};
  std::int64_t first = -rank;  // the node is known by its lowest rank
  mpi::maximum(node_.raw(), std::span{&first, 1}, policy_, "the ranks of this node");
  std::map<std::int64_t, int> number;
  for (const auto leader : mpi::gather_to_all(comm_, -first, policy_, "the nodes of all ranks")) {
    node_of_rank_.push_back(number.emplace(leader, static_cast<int>(number.size())).first->second);
  }

  std::vector<int> mine{rank};
  const auto cpus = allowed_cpus();
  mine.insert(mine.end(), cpus.begin(), cpus.end());
  for (const auto& one : mpi::gather(node_.raw(), 0, line(mine), policy_, others)) {
    auto seat = numbers(one);
    ranks_.push_back(seat.front());
    cpus_.emplace_back(seat.begin() + 1, seat.end());
  }
  if (leads_node()) {
    host_ = host_name();
    const Outcome known = outcome_of([this] { machine_ = topology::this_machine(); });
    if (!known.ok()) {
      log::warning("the topology of " + host_ + " is not known: " + known.story);
    }
  }
}

std::optional<placement::Placement> Seating::by_seats(const placement::Request& request) {
  std::optional<std::vector<int>> local;
  if (leads_node() && ranks_.size() > 1) {
    // What is impossible is told by placement::place, on all ranks.
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
  const auto mine = numbers(text).at(static_cast<std::size_t>(mpi::rank(node_)));
  std::vector<int> server_of;
  for (const auto server : mpi::gather_to_all(comm_, mine, policy_, others)) {
    server_of.push_back(static_cast<int>(server));
  }
  const auto nodes = *std::max_element(node_of_rank_.begin(), node_of_rank_.end()) + 1;
  return placement::place_as(server_of, static_cast<std::size_t>(nodes));
}

placement::Closeness Seating::closeness_of(std::size_t rank, std::size_t server) const {
  if (node_of_rank_[rank] != node_of_rank_[server]) {
    return placement::Closeness::other_node;
  }
  const auto seat = [this](std::size_t wanted) -> const std::vector<int>& {
    const auto found = std::find(ranks_.begin(), ranks_.end(), static_cast<int>(wanted));
    return cpus_[static_cast<std::size_t>(found - ranks_.begin())];
  };
  return placement::closeness(machine_, seat(rank), seat(server));
}

std::string Seating::rows(const std::vector<int>& server_of, placement::Pairs& pairs) const {
  std::string text;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks_[i]);
    const int server = server_of[rank];
    text += std::to_string(rank) + '\t';
    const std::string where =
        host_ + '\t' + std::to_string(node_of_rank_[rank]) + '\t' + ranges(cpus_[i]) + '\t';
    if (server == ranks_[i]) {
      const auto clients = std::count(server_of.begin(), server_of.end(), server) - 1;
      text += (clients > 0 ? "server\t" : "compute\t") + where + "-\t-\n";
      continue;
    }
    const auto close = closeness_of(rank, static_cast<std::size_t>(server));
    ++pairs.at(static_cast<std::size_t>(close));
    text += "compute\t" + where + std::to_string(server) + '\t' + placement::text(close) + '\n';
  }
  return text;
}

std::string Seating::check(const placement::Placement& placement,
                           const config::Settings& settings) {
  placement::Pairs pairs{};
  const auto server_of = servers_of(placement, node_of_rank_.size());
  const std::string table = rows(server_of, pairs);
  mpi::sum(comm_, pairs, policy_, others);
  const std::string asked = settings.text("placement.mapping");
  const std::string found = placement::found_mapping(pairs) + " (" + placement::text(pairs) + ')';
  log::info("mapping: " + found);

  const std::string path = settings.text("placement.report");
  if (!path.empty()) {
    const auto parts = mpi::gather(comm_, 0, table, policy_, others);
    Outcome written;
    if (!parts.empty()) {
      std::ofstream file{path};
      file << "# asked: " << asked << "\n# found: " << found << "\n# why: " << placement.reason
           << "\n# rank\trole\thost\tnode\tCPUs\tserver\thow close\n";
      for (const auto& part : parts) {
        file << part;
      }
      if (!file.flush()) {
        written = {ErrorCode::invalid_setting,
                   "placement.report = \"" + path + "\" cannot be written"};
      }
    }
    written = mpi::agree(comm_, written, policy_, others);
    if (!written.ok()) {
      throw Error{written.code, written.story};
    }
  }
  if (asked == "any" || placement::agrees(placement::mapping_named(asked), pairs)) {
    return {};
  }
  const std::string ranks = std::to_string(node_of_rank_.size());
  const std::string mismatch =
      "placement.mapping = \"" + asked + "\", but the ranks sit as " + found +
      ": start the job with the line that `iocomp map --mapping " + asked + " --ranks " + ranks +
      "` prints, or with `iocomp launch --mapping " + asked + " --ranks " + ranks + " -- PROGRAM`";
  if (settings.boolean("placement.strict")) {
    throw Error{ErrorCode::invalid_setting, mismatch};
  }
  return mpi::rank(node_) == 0 && ranks_.front() == 0 ? mismatch : std::string{};
}

}  // namespace iocomp::session
