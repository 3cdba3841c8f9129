// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "config/settings.h"
#include "mpi/handle.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "session/seating.h"

namespace iocomp::session {

/// True if servers were asked for: by a key of placement, or by a transport that needs them.
[[nodiscard]] bool wants_servers(const config::Settings& settings);

enum class Role { compute = 1, server = 2, both = 3 };

/// The ranks that serve, and the server of each compute rank, as far as this rank has to know.
class Ranks {
 public:
  /// Every rank computes and writes its own data. Collective over `all`.
  /// @param reason  why there are no servers, for people.
  Ranks(const mpi::Communicator& all, const mpi::WaitPolicy& policy, std::string reason);
  /// Some ranks serve, as the settings say; `split` is to follow. Collective over `all`.
  /// @throws Error{invalid_setting}, the same on all ranks, for a placement that is impossible.
  Ranks(const mpi::Communicator& all, const mpi::WaitPolicy& policy,
        const config::Settings& settings, Seating& seating);

  /// Make a communicator of each role, and find out who belongs to whom. Collective over `all`.
  void split();

  [[nodiscard]] Role role() const noexcept { return role_; }
  [[nodiscard]] bool serves() const noexcept { return role_ == Role::server; }
  [[nodiscard]] const mpi::Communicator& all() const noexcept { return all_; }
  /// The ranks of this role.
  [[nodiscard]] const mpi::Communicator& own() const noexcept { return own_; }
  /// The reason for this placement, for people.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  /// Session rank of this rank's server, its own if it serves; -1 without servers.
  [[nodiscard]] int server() const noexcept { return server_; }
  /// Session ranks of the servers, by number.
  [[nodiscard]] const mpi::Peers& servers() const noexcept { return servers_; }
  /// A compute rank: the number of its server, and all compute ranks with the same one.
  [[nodiscard]] int home() const noexcept { return home_; }
  [[nodiscard]] const std::vector<int>& neighbours() const noexcept { return neighbours_; }
  /// A server: its compute ranks, by session rank.
  [[nodiscard]] const std::map<int, int>& clients() const noexcept { return clients_; }

 private:
  void place(const config::Settings& settings, Seating& seating);
  void meet();

  const mpi::Communicator& all_;
  const mpi::WaitPolicy& policy_;
  Role role_ = Role::both;
  int server_ = -1;
  std::string reason_;
  mpi::Communicator own_;
  mpi::Peers servers_;
  int home_ = -1;
  std::vector<int> neighbours_;
  std::map<int, int> clients_;
};

}  // namespace iocomp::session
