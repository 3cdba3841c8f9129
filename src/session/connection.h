// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "session/configuration.h"
#include "session/ranks.h"
#include "session/seating.h"
#include "transport/shared_memory/node_stripes.h"
#include "transport/transport.h"

namespace iocomp::session {

/// The way in which this rank reaches those of the other role.
struct Connection {
  std::unique_ptr<transport::Transport> transport;  ///< nothing without servers
  std::string name = "direct";                      ///< for people
};

/// Connect the compute ranks with the servers; a server takes its place in the scheduler.
/// Collective over all ranks.
/// @throws Error, the same on all ranks, when the transport that was asked for cannot be had.
[[nodiscard]] Connection connect(const Ranks& ranks, const Seating& seating,
                                 const Configuration& configuration);

/// Memory in which the ranks of a node put short runs together, where they write for themselves;
/// nothing where settings or system give none. Collective over all.
[[nodiscard]] std::unique_ptr<transport::NodeStripes> share_stripes(
    const Ranks& ranks, const Configuration& configuration);

}  // namespace iocomp::session
