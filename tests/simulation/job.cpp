// SPDX-License-Identifier: BSD-3-Clause
#include "job.h"

#include <mpi.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "base/crew.h"
#include "client/client.h"
#include "client/local/stripe_terms.h"
#include "client/place.h"
#include "connection.h"
#include "disk/options.h"
#include "excuses.h"
#include "mpi/agree.h"
#include "mpi/peers.h"
#include "plan_settings.h"
#include "server/server.h"
#include "trace/counters.h"
#include "transport/shared_memory/node_stripes.h"
#include "transport/shared_memory/node_watch.h"
#include "workload.h"

namespace simulation {
namespace {

MPI_Comm handle(Network::Communicator* comm) { return reinterpret_cast<MPI_Comm>(comm); }

}  // namespace

iocomp::disk::Options usual_disk_options() {
  iocomp::disk::Options options;
  options.engine = iocomp::disk::EngineKind::threads;
  options.direct_from_bytes = 4096;
  options.request_bytes = 16384;
  return options;
}

std::string how_it_hangs(const World& world) {
  return world.is_endless() ? " does not end: " + std::to_string(world.turns()) + " turns by " +
                                  std::to_string(world.now() / microsecond) + " us"
                            : " hangs";
}

Job::Job(const Plan& plan, World& world, Machine& machine)
    : plan_{plan},
      world_{world},
      machine_{machine},
      network_{world},
      settings_{settings_of(plan)},
      oracle_{plan} {
  // On a very slow disk one rank may write alone for longer than others wait for it.
  constexpr std::int64_t very_slow = 100;
  for (int process = 0; process <= plan.ranks + plan.servers; ++process) {
    policies_.emplace_back((plan.faults.disk_slowness > very_slow ? 10 : 1) * deadline_seconds);
  }
  oracle_.around_calls([this](int rank) { policy_of(rank).begin_call(); },
                       [this](int) {
                         if (plan_.system.ends_threads) {
                           machine_.rings().end_thread();
                         }
                       });
}

void Job::when_called(std::function<void(const std::string&)> log) {
  oracle_.when_called([this, log = std::move(log)](int process, const std::string& what) {
    log(world_.name(process) + ' ' + what);
  });
}

void Job::run() {
  const int all = plan_.ranks + plan_.servers;
  std::vector<int> processes(static_cast<std::size_t>(all));
  std::iota(processes.begin(), processes.end(), 0);
  all_ = &network_.make(processes);
  computing_ = &network_.make({processes.begin(), processes.begin() + plan_.ranks});
  serving_ = &network_.make({processes.begin() + plan_.ranks, processes.end()});
  for (int node = 0; node < plan_.nodes; ++node) {
    std::vector<int> here;
    std::ranges::copy_if(processes, std::back_inserter(here),
                         [&](int process) { return node_of(process) == node; });
    nodes_.push_back(&network_.make(here));
  }
  machine_.set_system(plan_.system);
  if (plan_.nodes > 1) {
    machine_.place_processes([this](int process) { return node_of(process); });
  }
  for (const auto& file : plan_.files) {
    members_.push_back(file.members.empty() ? MPI_COMM_NULL : handle(&network_.make(file.members)));
  }
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    world_.add_process("rank " + std::to_string(rank), [this, rank] { compute(rank); });
  }
  for (int server = 0; server < plan_.servers; ++server) {
    world_.add_process("server " + std::to_string(server), [this, server] { serve(server); });
  }
  const PlannedFaults& faults = plan_.faults;
  if (faults.second_job_at) {
    world_.add_process("the second job", [this] { try_as_second_job(); });
  }
  machine_.slow_down(faults.disk_slowness);
  if (faults.folder_goes) {
    machine_.lose_folder(*faults.folder_goes, faults.folder_is_gone_for);
  }
  const auto stop = [this] {
    world_.stop(*plan_.faults.stopped_process, world_.now() + plan_.faults.stopped_for);
  };
  const auto kill_all = [this] {
    const bool all_end = !plan_.faults.spares_servers;
    is_terminated_ = !all_end;
    for (int process = 0; process < (all_end ? world_.processes() : plan_.ranks); ++process) {
      was_killed_ = was_killed_ || world_.is_alive(process);
      world_.kill(process);
    }
  };
  if (faults.killed_at_sync) {
    machine_.when_syncing([this, kill_all, left = *faults.killed_at_sync]() mutable {
      const auto server = plan_.faults.killed_server;
      if ((server && world_.process() != plan_.ranks + *server) || --left != 0) {
        return;
      }
      const auto meanwhile = world_.now() + world_.random().below(Machine::sync_time);
      if (!server) {
        world_.at(meanwhile, kill_all);
      } else if (can_go_on_) {
        world_.at(meanwhile, [this] { kill_server(); });
      }
    });
  } else if (faults.stopped_process && faults.stopped_at_call) {
    machine_.when_in_call([this, stop, left = *faults.stopped_at_call]() mutable {
      if (world_.process() == *plan_.faults.stopped_process && --left == 0) {
        stop();
        kill_server_later();
      }
    });
  } else if (faults.stopped_process) {
    world_.at(faults.stopped_at, stop);
  }
  if (faults.killed_at && !faults.killed_at_sync) {
    world_.at(*faults.killed_at, kill_all);
  }
  world_.run(longest);
  for (int process = 0; process < world_.processes(); ++process) {
    if (world_.is_alive(process)) {
      std::string waiting;
      for (const auto& message : network_.waiting_messages()) {
        waiting += "; nobody takes " + message;
      }
      oracle_.broken(world_.name(process) + how_it_hangs(world_) + waiting);
      world_.kill(process);
    }
  }
  if (servers_had_failures_ && !oracle_.has_heard_of_failures() && !was_killed_) {
    oracle_.broken("servers count failures, and no rank was told");
  }
}

int Job::node_of(int process) const {
  if (process >= plan_.ranks + plan_.servers) {
    return 0;
  }
  return process < plan_.ranks ? process * plan_.nodes / plan_.ranks
                               : (process - plan_.ranks) * plan_.nodes / plan_.servers;
}

const iocomp::mpi::WaitPolicy& Job::policy_of(int process) const {
  return policies_[static_cast<std::size_t>(process)];
}

std::unique_ptr<iocomp::transport::Transport> Job::connect(int process, iocomp::Crew* crew) {
  auto transport = simulation::connect(plan_, handle(all_),
                                       handle(nodes_[static_cast<std::size_t>(node_of(process))]),
                                       process >= plan_.ranks, policy_of(process), crew);
  // Else the launcher ends all.
  can_go_on_ = transport->node_watch() != nullptr && transport->node_watch()->has_notes();
  oracle_.let_go_on(can_go_on_);
  if (++connected_ == plan_.ranks + plan_.servers && !plan_.faults.stopped_at_call &&
      !plan_.faults.killed_at_sync) {
    kill_server_later();
  }
  return transport;
}

// As the session does it.
std::unique_ptr<iocomp::transport::NodeStripes> Job::share_stripes(int process) {
  const auto terms = iocomp::client::stripe_terms(settings_);
  std::unique_ptr<iocomp::transport::NodeStripes> stripes;
  if (terms) {
    (void)iocomp::outcome_of([&] {
      stripes = iocomp::transport::NodeStripes::share(
          handle(nodes_[static_cast<std::size_t>(node_of(process))]), *terms, policy_of(process));
    });
  }
  return stripes;
}

void Job::kill_server_later() {
  if (plan_.faults.killed_server && can_go_on_) {
    world_.at(world_.now() + plan_.faults.server_killed_after, [this] { kill_server(); });
  }
}

void Job::kill_server() {
  const int server = plan_.ranks + *plan_.faults.killed_server;
  // Linux tells of a loss once. Nobody can know of it if who was told dies before it tells others:
  // docs/durability.md.
  constexpr Nanoseconds enough_to_tell = 100 * millisecond;
  if (const auto heard = machine_.heard_of_loss(server);
      heard && world_.now() < *heard + enough_to_tell) {
    world_.at(*heard + enough_to_tell, [this] { kill_server(); });
    return;
  }
  oracle_.say(server, "is killed");
  has_lost_server_ = true;
  world_.kill(server);
}

// The writer threads of a process: real ones of the library, which the world runs in its order.
// They divide whatever has two elements.
iocomp::Crew::Terms Job::crew_terms() const {
  iocomp::Crew::Terms terms;
  terms.threads = static_cast<int>(settings_.integer("writing.threads"));
  terms.least_bytes = 8;
  terms.grain_bytes = 1;
  return terms;
}

iocomp::disk::Options Job::disk_options(iocomp::Crew& crew) const {
  auto options = usual_disk_options();
  options.engine = iocomp::disk::EngineKind::automatic;
  options.are_writers_on_one_node = plan_.nodes == 1;
  options.crew = crew.threads() > 1 ? &crew : nullptr;
  return options;
}

void Job::serve(int number) {
  try {
    iocomp::server::Place place;
    place.servers = handle(serving_);
    place.number = number;
    place.ranks = {handle(all_), iocomp::mpi::group_of(handle(serving_))};
    place.client_counts.resize(static_cast<std::size_t>(plan_.servers));
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      const int home = rank * plan_.servers / plan_.ranks;
      ++place.client_counts.at(static_cast<std::size_t>(home));
      if (home == number) {
        place.clients[rank] = rank;
      }
    }
    place.tree_width = 1 + plan_.ranks % 2;  // a chain, or side by side
    place.job = "sim-" + std::to_string(machine_.first_id());
    place.staging_bytes = static_cast<std::size_t>(plan_.staging_bytes);
    place.is_terminated = [this] { return is_terminated_; };
    iocomp::Crew crew{crew_terms()};
    const auto disk = disk_options(crew);
    const auto transport = connect(plan_.ranks + number, disk.crew);
    iocomp::server::Server server{settings_, policy_of(plan_.ranks + number), disk,
                                  std::move(place), *transport};
    if (server.serve() == iocomp::server::Server::End::given_up) {
      oracle_.say(plan_.ranks + number, "leaves: the compute ranks went on without");
      has_lost_server_ = true;
      world_.end();  // as a session does
    }
    servers_had_failures_ = servers_had_failures_ || server.had_failures();
  } catch (const std::exception& error) {
    oracle_.broken("server " + std::to_string(number) + " cannot go on: " + error.what());
  }
}

void Job::compute(int number) {
  try {
    const bool has_servers = plan_.mode == Mode::servers;
    iocomp::Crew crew{crew_terms()};
    const auto disk = disk_options(crew);
    std::unique_ptr<iocomp::transport::Transport> transport;
    iocomp::client::Place place;
    place.comm = handle(computing_);
    place.rank = number;
    place.job = "sim-" + std::to_string(machine_.first_id());
    place.has_kernel = plan_.mode == Mode::kernel;
    place.threads_call_mpi = plan_.system.threads_call_mpi;
    if (has_servers) {
      transport = connect(number, disk.crew);
      place.servers = {handle(all_), iocomp::mpi::group_of(handle(serving_))};
      place.home = number * plan_.servers / plan_.ranks;
      for (int rank = 0; rank < plan_.ranks; ++rank) {
        if (rank * plan_.servers / plan_.ranks == place.home) {
          place.neighbours.push_back(rank);
        }
      }
      place.chunk_bytes = static_cast<std::size_t>(plan_.chunk_bytes);
    }
    const auto stripes = plan_.mode == Mode::kernel ? share_stripes(number) : nullptr;
    place.stripes = stripes.get();
    Workload program{plan_, number, members_, oracle_, world_};
    program.before_closing([this](std::size_t file) {
      while (file == 0 && is_second_there_) {
        world_.spend(10 * microsecond);
      }
    });
    iocomp::client::Client client{settings_, policy_of(number), disk, std::move(place),
                                  transport.get()};
    program.run(client);
    const auto attempt = [&](const std::string& call, const std::function<void()>& body) {
      (void)oracle_.attempt(number, Oracle::no_file, call, body);
    };
    attempt("finalize", [&] { client.finalize().throw_unless_ok(); });
    check_memory(number, client);
    if (client.can_meet()) {
      attempt("end", [&] {
        iocomp::mpi::gate(handle(computing_), policy_of(number), "the other ranks to finalize");
      });
    }
    oracle_.say(number, "has ended");
  } catch (const std::exception& error) {
    oracle_.broken("rank " + std::to_string(number) +
                   ": an exception leaves the library: " + error.what());
  }
}

// A job of one rank that wants to write what this one has open: it is refused, and told why.
void Job::try_as_second_job() {
  const int process = plan_.ranks + plan_.servers;
  world_.sleep(*plan_.faults.second_job_at);
  is_second_there_ = oracle_.is_held(0);
  if (!is_second_there_) {
    return;
  }
  Plan plan = plan_;
  plan.mode = Mode::synchronous;
  plan.files.resize(1);
  PlannedFile& file = plan.files.front();
  file.comes_after.clear();
  file.goes_on = file.goes_on != (plan_.seed % 2 == 0);
  file.replaces = !file.goes_on;
  const auto settings = settings_of(plan);
  iocomp::client::Place place;
  place.comm = handle(&network_.make({process}));
  place.job = "second";
  iocomp::client::Client client{settings, policy_of(process), usual_disk_options(),
                                std::move(place), nullptr};
  const auto opened = iocomp::outcome_of([&] {
    (void)client.open(MPI_COMM_NULL, file.name, file.is_checkpoint ? "checkpoint" : "series",
                      INT64_MAX);
  });
  oracle_.say(process, "opens " + file.name + ": " + opened.story);
  if (opened.code != iocomp::ErrorCode::target_exists ||
      opened.story.find("is being written by the job sim-") == std::string::npos) {
    oracle_.broken("a second job opens " + file.name +
                   ", which is being written: " + (opened.ok() ? "it may" : opened.story));
  }
  (void)client.finalize();
  is_second_there_ = false;
}

// The copied bytes stay within their bound: of this rank, and of the servers together.
void Job::check_memory(int rank, iocomp::client::Client& client) {
  const auto check = [&](const std::string& who, std::size_t peak, std::size_t limit) {
    if (peak > limit) {
      oracle_.broken(who + " copied " + std::to_string(peak) + " bytes at once, of " +
                     std::to_string(limit));
    }
  };
  const auto& copies = client.link().copies();
  check("rank " + std::to_string(rank), copies.peak_bytes(), most_copied_bytes(plan_, rank));
  using iocomp::trace::Counter;
  if (const auto& servers = client.link().server_side().farewell()) {
    const auto counted = [&](Counter counter) {
      return static_cast<std::size_t>((*servers)[static_cast<std::size_t>(counter)]);
    };
    check("servers", counted(Counter::staging_peak_bytes), counted(Counter::staging_limit_bytes));
  }
}

}  // namespace simulation
