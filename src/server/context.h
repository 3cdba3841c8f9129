// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/order.h"
#include "base/side_jobs.h"
#include "commit/file_terms.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "config/settings.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "formats/aggregators.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "protocol/notes.h"
#include "server/post_office.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "steps/predecessors.h"
#include "trace/busy.h"
#include "trace/counters.h"
#include "trace/timeline.h"
#include "writing/spill.h"

namespace iocomp::server {

/// The place of a server in its session.
struct Place {
  MPI_Comm servers =
      MPI_COMM_NULL;           ///< all servers, in the order of their numbers; the library's own
  int number = 0;              ///< of this server; 0 is the lead of every file
  mpi::Peers ranks;            ///< session ranks of the servers, by number
  std::map<int, int> clients;  ///< of this server: compute rank by session rank
  std::vector<std::int64_t> client_counts;  ///< of each server, by number
  int tree_width = 8;  ///< servers that report to each; it sends so many messages for one to all
  std::string job;     ///< "<host>-<pid>", the same on all ranks
  std::size_t staging_bytes = 0;  ///< this server's share of the node's limit
  /// The part of its hardware threads that compute ranks leave it.
  double core_share = 1;
  std::function<bool()> is_terminated{};  ///< true if SIGTERM has come
  bool clients_outlive_signal = false;    ///< SIGTERM does not end compute ranks
  trace::Timeline* timeline = nullptr;    ///< gets events; null if there is none
};

/// The means that the parts of one server share. Everything is used by the loop's thread.
struct Context {
  const config::Settings& settings;
  mpi::WaitPolicy policy;
  disk::Options disk;
  Place place;
  staging::Arena& arena;
  staging::ArenaStripes& stripes;
  disk::Engine& engine;
  SideJobs& jobs;
  PostOffice& post;
  steps::Progress progress{};  ///< of the files
  trace::Counters counters;
  trace::Busy busy{counters};

  struct Underway {
    trace::Activity activity;
    std::function<void(const disk::Completion&)> done;
  };
  /// True if the compute ranks write without servers. Then nothing may be written any more.
  std::function<bool()> is_given_up;
  std::function<bool()> was_given_up;  ///< the same, from any thread

  /// The identity of a file that the compute ranks may take over.
  [[nodiscard]] commit::Publication::Identity identity(const std::string& name,
                                                       const config::FileSettings& file) const {
    return commit::identity(name, file, place.job, was_given_up);
  }

  /// Takes pieces that find no room. It is made when it is first asked for.
  /// @throws Error{storage_failure} if that is impossible.
  [[nodiscard]] writing::Spill& spill();

  /// The options for a file. Of an fsync that fails, those who take the file over must hear,
  /// because theirs would say yes.
  [[nodiscard]] disk::Options disk_options(std::uint64_t key) const {
    disk::Options options = disk;
    options.sync_failed = [&post = post, note = protocol::word(key, protocol::Note::sync_failed)] {
      post.write_failure(note);
    };
    return options;
  }

  /// Carry out a disk plan; `done` is called from the loop.
  void submit(disk::Plan plan, std::function<void(const disk::Completion&)> done) {
    if (is_given_up()) {
      return;
    }
    plan.id = next_id++;
    const auto activity = plan.sync ? trace::Activity::sync : trace::Activity::write;
    plans.emplace(plan.id, Underway{activity, std::move(done)});
    busy.begin(activity, now_seconds());
    engine.submit(std::move(plan));
  }
  void ended(const disk::Completion& completion) {
    const auto node = plans.extract(completion.id);
    busy.end(node.mapped().activity, now_seconds());
    node.mapped().done(completion);
  }
  /// Run a job that would hold up the loop in a thread; `done` is called from the loop.
  void submit(SideJobs::Job job, SideJobs::Then done) {
    if (!is_given_up()) {
      jobs.run(std::move(job), std::move(done));
    }
  }

  /// The servers in the order in which they open a file of theirs together; made when first asked
  /// for. Collective over the servers.
  [[nodiscard]] const formats::Openers& openers(Order order, int aggregators_per_node) {
    auto& made = ordered[{order, aggregators_per_node}];
    if (made.aggregators == 0) {
      made = formats::openers(place.servers, order, aggregators_per_node, policy,
                              "the other servers to open a file");
    }
    return made;
  }

  std::unique_ptr<writing::Spill> made_spill{};  // outlives the plans, which tell it
  std::uint64_t next_id = 1;
  std::unordered_map<std::uint64_t, Underway> plans;
  std::map<std::pair<Order, int>, formats::Openers> ordered;
};

}  // namespace iocomp::server
