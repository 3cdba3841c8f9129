#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/log.h"
#include "config/settings.h"
#include "mpi/agree.h"
#include "mpi/handle.h"
#include "session/seating.h"
#include "session/session.h"
#include "transport/combined_transport.h"
#include "transport/message/message_transport.h"
#include "transport/message/pull_probe.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/shared_transport.h"
#include "transport/shared_memory/wait_instruction.h"

namespace iocomp::session {
namespace {

constexpr const char* others = "the other ranks in iocomp_init";

// Before the writer threads start: they inherit both.
void schedule_server(const config::Settings& settings) {
  const auto wanted = settings.text("server.scheduling");
  if (wanted != "other") {
    const sched_param none{};
    if (sched_setscheduler(0, wanted == "idle" ? SCHED_IDLE : SCHED_BATCH, &none) != 0) {
      throw Error{ErrorCode::invalid_setting,
                  "server.scheduling = " + wanted + ": " + std::strerror(errno)};
    }
  }
  const auto nice = static_cast<int>(settings.integer("server.nice"));
  if (nice != 0 && setpriority(PRIO_PROCESS, 0, nice) != 0) {
    throw Error{ErrorCode::invalid_setting,
                "server.nice = " + std::to_string(nice) + ": " + std::strerror(errno)};
  }
}

}  // namespace

bool Session::probe_transport() {
  std::int64_t pulls = 1;
  // One compute rank of every server, so that each server probes once.
  if (role_ == Role::server) {
    transport::probe_as_receiver(comm_.raw(), clients_.begin()->first, policy_);
  } else if (neighbours_.front() == mpi::rank(own_comm_)) {
    pulls = transport::probe_as_sender(comm_.raw(), server_, policy_) ? 1 : 0;
  }
  pulls = -pulls;
  mpi::maximum(comm_.raw(), std::span{&pulls, 1}, policy_, "the probe of the message transport");
  return pulls == -1;
}

std::unique_ptr<transport::SharedTransport> Session::join(const Seating& seating) {
  transport::NodeMemory node =
      transport::join_node(seating.node(), mpi::rank(comm_), role_ == Role::server,
                           settings_.text("transport.segment"), policy_);
  transport_name_ = "shared, " + node.kind + " segment of " +
                    format_bytes(static_cast<std::int64_t>(node.segment.bytes().size()));
  transport::SharedTransport::Options options;
  options.window = static_cast<int>(settings_.integer("transport.credits"));
  options.limited = role_ == Role::compute;
  options.exports = settings_.text("transport.way") != "pull";
  options.spin = std::chrono::microseconds{settings_.integer("wait.spin")};
  options.instruction =
      transport::choose_wait_instruction(settings_.text("wait.instruction"), transport::ask_cpuid);
  return std::make_unique<transport::SharedTransport>(std::move(node), options);
}

void Session::connect(const Seating& seating) {
  const auto kind = settings_.text("transport.kind");
  std::unique_ptr<transport::SharedTransport> here;
  const Outcome joined = kind == "message" ? Outcome{} : outcome_of([&] { here = join(seating); });
  // Of the lowest rank that has one: all ranks of a node have the same, another node may have none.
  const Outcome first = mpi::agree(comm_.raw(), joined, policy_, others);
  if (!first.ok() && (kind == "shared" || first.code == ErrorCode::invalid_setting)) {
    throw Error{first.code, "transport.kind = " + kind + ": " + first.story};
  }
  if (!first.ok() && mpi::rank(comm_) == 0) {
    std::fprintf(stderr, "iocomp: transport message instead of shared: %s\n", first.story.c_str());
  }
  const Outcome scheduled = mpi::agree(
      comm_.raw(),
      role_ == Role::server ? outcome_of([this] { schedule_server(settings_); }) : Outcome{},
      policy_, others);
  if (!scheduled.ok()) {
    throw Error{scheduled.code, scheduled.story};
  }
  const bool sends_messages = kind == "message" || !first.ok() || seating.nodes() > 1;
  if (!sends_messages) {
    transport_ = std::move(here);
    return;
  }
  const std::string messages = probe_transport()
                                   ? "message, receivers pull while senders compute"
                                   : "message, moves only inside calls (iocomp_progress helps)";
  auto elsewhere = std::make_unique<transport::MessageTransport>(
      comm_.raw(), static_cast<int>(settings_.integer("transport.credits")),
      role_ == Role::compute);
  if (here) {
    transport_name_ += "; to other nodes: " + messages;
    transport_ =
        std::make_unique<transport::CombinedTransport>(std::move(here), std::move(elsewhere));
  } else {
    transport_name_ = messages;
    if (!joined.ok()) {
      transport_name_ += " (not shared: " + joined.story + ')';
    }
    transport_ = std::move(elsewhere);
  }
}

}  // namespace iocomp::session
