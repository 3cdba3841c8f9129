// SPDX-License-Identifier: BSD-3-Clause
#include "session/connection.h"

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/log.h"
#include "client/local/stripe_terms.h"
#include "config/settings.h"
#include "mpi/agree.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "session/configuration.h"
#include "session/others.h"
#include "session/ranks.h"
#include "session/seating.h"
#include "transport/combined_transport.h"
#include "transport/message/message_transport.h"
#include "transport/message/pull_probe.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/node_stripes.h"
#include "transport/shared_memory/shared_transport.h"
#include "transport/shared_memory/wait_instruction.h"

namespace iocomp::session {
namespace {

// True if receivers pull large messages by themselves.
bool probe_transport(const Ranks& ranks, const mpi::WaitPolicy& policy) {
  std::int64_t pulls = 1;
  // One compute rank of every server, so that each server probes once.
  if (ranks.serves()) {
    transport::probe_as_receiver(ranks.all().raw(), ranks.clients().begin()->first, policy);
  } else if (ranks.neighbours().front() == mpi::rank(ranks.own())) {
    pulls = transport::probe_as_sender(ranks.all().raw(), ranks.server(), policy) ? 1 : 0;
  }
  pulls = -pulls;
  mpi::maximum(ranks.all().raw(), std::span{&pulls, 1}, policy,
               "the probe of the message transport");
  return pulls == -1;
}

std::unique_ptr<transport::SharedTransport> join(const Ranks& ranks, const Seating& seating,
                                                 const Configuration& configuration,
                                                 std::string& name) {
  const auto& settings = configuration.settings;
  transport::NodeMemory node =
      transport::join_node(seating.node(), mpi::rank(ranks.all()), ranks.serves(),
                           settings.text("test.segment"), configuration.policy);
  name = "shared, " + node.kind + " segment of " +
         format_bytes(static_cast<std::int64_t>(node.segment.bytes().size()));
  transport::SharedTransport::Options options;
  options.window = static_cast<int>(settings.integer("test.credits"));
  options.limited = !ranks.serves();
  options.exports = settings.text("test.way") != "pull";
  options.is_whole_session = seating.nodes() == 1;
  options.spin = std::chrono::microseconds{settings.integer("test.spin")};
  options.crew = configuration.disk.crew;
  options.instruction = transport::best_wait_instruction(transport::ask_cpuid);
  return std::make_unique<transport::SharedTransport>(std::move(node), options);
}

}  // namespace

Connection connect(const Ranks& ranks, const Seating& seating, const Configuration& configuration) {
  const auto& settings = configuration.settings;
  const auto& policy = configuration.policy;
  const MPI_Comm all = ranks.all().raw();
  Connection made;
  const auto kind = settings.text("transport.kind");
  std::unique_ptr<transport::SharedTransport> here;
  const Outcome joined = kind == "message" ? Outcome{} : outcome_of([&] {
    here = join(ranks, seating, configuration, made.name);
  });
  // The failure of the lowest rank that has one: all ranks of a node have the same, another node
  // may have none.
  const Outcome first = mpi::agree(all, joined, policy, others);
  if (!first.ok() && (kind == "shared" || first.code == ErrorCode::invalid_setting)) {
    throw Error{first.code, "transport.kind = " + kind + ": " + first.story};
  }
  if (!first.ok() && mpi::rank(ranks.all()) == 0) {
    std::fprintf(stderr, "iocomp: transport message instead of shared: %s\n", first.story.c_str());
  }
  const bool sends_messages = kind == "message" || !first.ok() || seating.nodes() > 1;
  if (!sends_messages) {
    made.transport = std::move(here);
    return made;
  }
  const std::string messages = probe_transport(ranks, policy)
                                   ? "message, receivers pull while senders compute"
                                   : "message, moves only inside calls (iocomp_progress helps)";
  auto elsewhere = std::make_unique<transport::MessageTransport>(
      all, static_cast<int>(settings.integer("test.credits")), !ranks.serves());
  if (here) {
    made.name += "; to other nodes: " + messages;
    made.transport =
        std::make_unique<transport::CombinedTransport>(std::move(here), std::move(elsewhere));
  } else {
    made.name = messages;
    if (!joined.ok()) {
      made.name += " (not shared: " + joined.story + ')';
    }
    made.transport = std::move(elsewhere);
  }
  return made;
}

std::unique_ptr<transport::NodeStripes> share_stripes(const Ranks& ranks,
                                                      const Configuration& configuration) {
  const auto terms = client::stripe_terms(configuration.settings);
  if (!terms) {
    return nullptr;
  }
  const auto& policy = configuration.policy;
  const auto node = mpi::node_of(ranks.all().raw(), policy, others);
  std::unique_ptr<transport::NodeStripes> stripes;
  const Outcome made =
      outcome_of([&] { stripes = transport::NodeStripes::share(node.raw(), *terms, policy); });
  if (!made.ok()) {
    log::warning("short runs of several ranks are not put together: " + made.story);
  }
  return stripes;
}

}  // namespace iocomp::session
