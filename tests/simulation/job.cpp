// SPDX-License-Identifier: BSD-3-Clause
#include "job.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include "array/box.h"
#include "array/decomposition.h"
#include "base/crew.h"
#include "base/error.h"
#include "check.h"
#include "client/client.h"
#include "client/local/stripe_terms.h"
#include "client/place.h"
#include "connection.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "disk/options.h"
#include "mpi/agree.h"
#include "mpi/peers.h"
#include "plan_settings.h"
#include "reading/input.h"
#include "server/server.h"
#include "trace/counters.h"
#include "transport/shared_memory/node_stripes.h"

namespace simulation {
namespace {

using iocomp::Error;
using iocomp::ErrorCode;
using iocomp::client::State;

MPI_Comm handle(Network::Communicator* comm) { return reinterpret_cast<MPI_Comm>(comm); }

constexpr std::byte poison{0xEE};
constexpr std::size_t no_file = SIZE_MAX;

// The elements of a block in the reverse of their order, and the bytes in that order.
iocomp::array::Decomposition reversed(const std::vector<std::int64_t>& shape, const Put& put,
                                      std::vector<std::byte>& bytes, std::size_t size) {
  std::vector<std::int64_t> map;
  std::vector<std::int64_t> index = put.start;
  const std::size_t elements = bytes.size() / size;
  while (map.size() < elements) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      place = place * shape[d] + index[d];
    }
    map.push_back(place);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < put.start[d] + put.count[d]) {
        break;
      }
      index[d] = put.start[d];
    }
  }
  std::ranges::reverse(map);
  std::vector<std::byte> values(bytes.size());
  for (std::size_t i = 0; i < elements; ++i) {
    std::copy_n(bytes.end() - static_cast<std::ptrdiff_t>((i + 1) * size), size,
                values.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
  bytes = std::move(values);
  return iocomp::array::decompose_map(
      iocomp::array::make_shape(static_cast<int>(shape.size()), shape.data()), map);
}

// A number at the beginning of a text, which is cut off there.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return number;
}

// The steps that a story names: "step 3", "steps 0 to 2".
std::set<std::int64_t> steps_in(std::string_view story) {
  constexpr std::string_view word = "step";
  constexpr std::string_view up_to = " to ";
  std::set<std::int64_t> steps;
  for (auto at = story.find(word); at != std::string_view::npos; at = story.find(word)) {
    story.remove_prefix(at + word.size());
    story.remove_prefix(story.starts_with('s') ? 1 : 0);
    if (!story.starts_with(' ')) {
      continue;
    }
    story.remove_prefix(1);
    const auto first = take_number(story);
    auto rest = story.starts_with(up_to) ? story.substr(up_to.size()) : std::string_view{};
    const auto last = take_number(rest);
    for (std::int64_t step = first.value_or(0); first && step <= last.value_or(*first); ++step) {
      steps.insert(step);
    }
  }
  return steps;
}

// What a rank may copy at once. Where it is told only after a put where the block goes, and nothing
// that it has copied can be written before, it copies the block beyond the bound: to wait would be
// for ever. What such copies are written from is one more copy, of a quarter of the bound or a run.
std::size_t most_copied_bytes(const Plan& plan, int rank) {
  const auto limit = static_cast<std::size_t>(plan.buffer_bytes);
  std::size_t kept = 0;
  for (const auto& file : plan.files) {
    const bool may_lose_servers = plan.faults.killed_server || plan.faults.stopped_process;
    const bool is_by_servers =
        plan.mode == Mode::servers && !file.is_synchronous && !may_lose_servers;
    const bool knows_places = file.backend == "posix" || is_by_servers;
    kept += file.has_times && !knows_places ? file.steps.size() * sizeof(double) : 0;
    for (const auto& step : file.steps) {
      for (std::size_t v = 0; v < step.variables.size() && !knows_places; ++v) {
        for (const Put& put : step.variables[v].puts) {
          const bool is_kept = put.is_buffered || put.await == Await::handed_over;
          const bool is_twice = file.mistake == Mistake::overlap && file.mistaken_rank == rank;
          if (put.rank == rank) {
            kept += (is_kept ? 1U : 0U) * bytes_of(file, v, put);
            kept += (is_twice ? 1U : 0U) * bytes_of(file, v, put);
          }
        }
      }
    }
  }
  const std::size_t one_more = std::max(limit / 4, usual_disk_options().direct_from_bytes);
  // A copy lies in its page as in the file.
  constexpr std::size_t skew = 4096;
  return kept == 0 ? limit : std::max(limit, kept) + one_more + skew;
}

// Of the first element of a put, in the packed order of its variable.
std::size_t place_of(const Put& put, const std::vector<std::int64_t>& shape) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    place = place * shape[d] + put.start[d];
  }
  return static_cast<std::size_t>(place);
}

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

/// What a rank keeps while it runs.
struct Job::Rank {
  struct Buffer {
    std::vector<std::byte> own;
    std::span<std::byte> bytes;  // of these, or of the library's
    std::uint64_t ticket;
    std::size_t file;
    int* end;  ///< what its ticket comes to
    bool is_polled;
  };
  int number = 0;
  iocomp::client::Client* client = nullptr;
  std::vector<iocomp::client::File*> files{};
  std::vector<std::pair<std::size_t, std::uint64_t>> closings{};  // files that close later, tickets
  std::vector<std::int64_t> first_steps{};                        ///< by file
  std::vector<std::int64_t> ended{};                              ///< likewise: up to this step
  std::vector<std::vector<int>> variables{};
  std::vector<std::unique_ptr<Buffer>> buffers{};
  std::vector<std::vector<std::vector<std::int64_t>>> shapes{};  // by file and variable
};

// Memory for the values of a put, whose first byte has this offset in its variable.
std::span<std::byte> Job::memory_for(Rank& rank, std::vector<std::byte>& own, const Put& put,
                                     std::size_t bytes, std::size_t offset) {
  constexpr std::size_t page = 4096;
  const std::size_t skew = put.is_aligned ? offset % page : sizeof(double);
  if (put.is_allocated) {
    auto* const memory =
        static_cast<std::byte*>(rank.client->array_memory().allocate(bytes + skew));
    return {memory + skew, bytes};
  }
  // The same place in a page whatever was allocated before.
  own.resize(bytes + skew + page);
  const auto past = reinterpret_cast<std::uintptr_t>(own.data()) % page;
  return std::span{own}.subspan(page - past + skew, bytes);
}

bool Job::is_mistaken(const PlannedFile& file, const Rank& rank, Mistake what) {
  return file.mistake == what && file.mistaken_rank == rank.number;
}

Job::Job(const Plan& plan, World& world, Machine& machine)
    : plan_{plan},
      world_{world},
      machine_{machine},
      network_{world},
      settings_{settings_of(plan)},
      told_(plan.files.size()),
      ends_(static_cast<std::size_t>(plan.ranks), std::vector<Ends>(plan.files.size())),
      failures_of_(static_cast<std::size_t>(plan.ranks), std::vector<Failures>(plan.files.size())),
      closes_(plan.files.size()) {
  // On a very slow disk one rank may write alone for longer than others wait for it.
  constexpr std::int64_t very_slow = 100;
  for (int process = 0; process < plan.ranks + plan.servers; ++process) {
    policies_.emplace_back((plan.faults.disk_slowness > very_slow ? 10 : 1) * deadline_seconds);
  }
}

void Job::know(const std::vector<Found>& before) {
  for (std::size_t file = 0; file < before.size(); ++file) {
    told_[file].before = before[file];
  }
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
    members_.push_back(file.members.empty() ? nullptr : &network_.make(file.members));
  }
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    world_.add_process("rank " + std::to_string(rank), [this, rank] { compute(rank); });
  }
  for (int server = 0; server < plan_.servers; ++server) {
    world_.add_process("server " + std::to_string(server), [this, server] { serve(server); });
  }
  const PlannedFaults& faults = plan_.faults;
  machine_.slow_down(faults.disk_slowness);
  if (faults.folder_goes) {
    machine_.lose_folder(*faults.folder_goes, faults.folder_is_gone_for);
  }
  const auto stop = [this] {
    world_.stop(*plan_.faults.stopped_process, world_.now() + plan_.faults.stopped_for);
  };
  const auto kill_all = [this] {
    for (int process = 0; process < world_.processes(); ++process) {
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
      violations_.push_back(world_.name(process) + how_it_hangs(world_) + waiting);
      world_.kill(process);
    }
  }
  if (servers_had_failures_ && failures_ == 0 && !was_killed_) {
    violations_.emplace_back("servers count failures, and no rank was told");
  }
}

void Job::say(int rank, const std::string& what) {
  if (log_) {
    log_(world_.name(rank) + ' ' + what);
  }
}

// Make a call of the library. @return 0, or the code of its failure.
int Job::attempt(int rank, std::size_t file, const std::string& call,
                 const std::function<void()>& body) {
  policy_of(rank).begin_call();
  const auto outcome = iocomp::outcome_of(body);
  if (plan_.system.ends_threads) {
    machine_.rings().end_thread();
  }
  if (!outcome.ok()) {
    failed(rank, file, call, static_cast<int>(outcome.code), outcome.story);
  }
  return static_cast<int>(outcome.code);
}

void Job::failed(int rank, std::size_t file, const std::string& call, int code,
                 const std::string& story) {
  ++failures_;
  is_late_ = is_late_ || code == static_cast<int>(ErrorCode::timed_out);
  say(rank, call + " fails: " + story);
  if (file < plan_.files.size()) {
    int& first = ends_[static_cast<std::size_t>(rank)][file].first_error;
    first = first == 0 ? code : first;
    Failures& failures = failures_of_[static_cast<std::size_t>(rank)][file];
    const auto steps = steps_in(call + ' ' + story);
    failures.steps.insert(steps.begin(), steps.end());
    failures.is_whole_file = failures.is_whole_file || steps_in(story).empty();
  }
  const PlannedFaults& faults = plan_.faults;
  const bool may_fail = faults.disk.capacity_bytes || faults.disk.failing_write ||
                        faults.disk.failing_sync || faults.folder_goes || faults.stopped_process ||
                        faults.killed_server;
  const bool is_full = code == static_cast<int>(ErrorCode::out_of_staging_memory) &&
                       std::ranges::any_of(plan_.files, [](const auto& one) {
                         return one.fails_when_full || one.is_compressed;
                       });
  const bool is_there = code == static_cast<int>(ErrorCode::target_exists) &&
                        std::ranges::any_of(plan_.files, [](const auto& one) {
                          return one.exists_before && !one.replaces;
                        });
  const bool is_wrong =
      is_there || is_full || std::ranges::any_of(plan_.files, simulation::has_mistake);
  // A server that is lost or stopped is found: nobody waits for it until the deadline.
  const bool is_rank_stopped =
      faults.stopped_process && (*faults.stopped_process < plan_.ranks || !can_go_on_);
  const bool may_be_late = is_wrong || is_rank_stopped || faults.folder_goes ||
                           faults.disk_slowness > 100 || faults.disk != Disk::Faults{};
  if (code == static_cast<int>(ErrorCode::internal) || (!may_fail && !is_wrong) ||
      (code == static_cast<int>(ErrorCode::timed_out) && !may_be_late)) {
    violations_.push_back("rank " + std::to_string(rank) + ": " + call + " fails: " + story);
  }
}

int Job::node_of(int process) const {
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
  can_go_on_ = transport->survivors() != nullptr && transport->survivors()->has_notes();
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
  say(server, "is killed");
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
    iocomp::Crew crew{crew_terms()};
    const auto disk = disk_options(crew);
    const auto transport = connect(plan_.ranks + number, disk.crew);
    iocomp::server::Server server{settings_, policy_of(plan_.ranks + number), disk,
                                  std::move(place), *transport};
    if (server.serve() == iocomp::server::Server::End::given_up) {
      say(plan_.ranks + number, "leaves: the compute ranks went on without");
      has_lost_server_ = true;
      world_.end();  // as a session does
    }
    servers_had_failures_ = servers_had_failures_ || server.had_failures();
  } catch (const std::exception& error) {
    violations_.push_back("server " + std::to_string(number) + " cannot go on: " + error.what());
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
    Rank rank;
    rank.number = number;
    iocomp::client::Client client{settings_, policy_of(number), disk, std::move(place),
                                  transport.get()};
    rank.client = &client;
    rank.files.resize(plan_.files.size());
    rank.first_steps.resize(plan_.files.size());
    rank.ended.resize(plan_.files.size());
    rank.variables.resize(plan_.files.size());
    rank.shapes.resize(plan_.files.size());
    write_files(rank);
    (void)attempt(number, no_file, "finalize", [&] {
      const auto outcome = client.finalize();
      outcome.throw_unless_ok();
    });
    check_memory(number, client);
    if (client.can_meet()) {
      (void)attempt(number, no_file, "end", [&] {
        iocomp::mpi::gate(handle(computing_), policy_of(number), "the other ranks to finalize");
      });
    }
    say(number, "has ended");
  } catch (const std::exception& error) {
    violations_.push_back("rank " + std::to_string(number) +
                          ": an exception leaves the library: " + error.what());
  }
}

// What is copied stays within its bound: by this rank, and by the servers together.
void Job::check_memory(int rank, iocomp::client::Client& client) {
  const auto check = [&](const std::string& who, std::size_t peak, std::size_t limit) {
    if (peak > limit) {
      violations_.push_back(who + " copied " + std::to_string(peak) + " bytes at once, of " +
                            std::to_string(limit));
    }
  };
  const auto& copies = client.link().copies();
  check("rank " + std::to_string(rank), copies.peak_bytes(), most_copied_bytes(plan_, rank));
  using iocomp::trace::Counter;
  if (const auto& servers = client.link().farewell()) {
    const auto counted = [&](Counter counter) {
      return static_cast<std::size_t>((*servers)[static_cast<std::size_t>(counter)]);
    };
    check("servers", counted(Counter::staging_peak_bytes), counted(Counter::staging_limit_bytes));
  }
}

void Job::write_files(Rank& rank) {
  std::vector<std::size_t> own;
  for (std::size_t file = 0; file < plan_.files.size(); ++file) {
    if (is_member(plan_.files[file], rank.number)) {
      own.push_back(file);
    }
  }
  const auto make_step_of = [&](std::size_t file, std::size_t step) {
    const auto number = static_cast<std::int64_t>(step);
    if (rank.files[file] != nullptr && number >= rank.first_steps[file] &&
        step < steps_of(rank, file)) {
      make_step(rank, file, number);
    }
  };
  const auto close_file = [&](std::size_t file) {
    if (rank.files[file] == nullptr || plan_.files[file].leaves_close_to_finalize) {
      return;
    }
    if (plan_.files[file].closes_later) {
      close_later(rank, file);
    } else {
      close(rank, file, [&] { rank.client->close(rank.files[file]); });
    }
  };
  const auto end_closing = [&] {
    for (const auto& [file, ticket] : rank.closings) {
      close(rank, file, [&] { rank.client->wait(ticket, State::durable); });
    }
  };
  if (plan_.are_files_in_turn) {
    std::size_t most = 0;
    for (const std::size_t file : own) {
      open(rank, file);
      most = std::max(most, steps_of(rank, file));
    }
    for (std::size_t step = 0; step < most; ++step) {
      std::ranges::for_each(own, [&](std::size_t file) { make_step_of(file, step); });
    }
    std::ranges::for_each(own, close_file);
    end_closing();
    return;
  }
  for (const std::size_t file : own) {
    open(rank, file);
    for (std::size_t step = 0; step < steps_of(rank, file); ++step) {
      make_step_of(file, step);
    }
    close_file(file);
  }
  end_closing();
}

std::size_t Job::steps_of(const Rank& rank, std::size_t file) const {
  const PlannedFile& planned = plan_.files[file];
  return planned.steps.size() - (is_mistaken(planned, rank, Mistake::step_less) ? 1 : 0);
}

void Job::open(Rank& rank, std::size_t number) {
  const PlannedFile& planned = plan_.files[number];
  say(rank.number, "opens " + planned.name);
  const int code = attempt(rank.number, number, "open of " + planned.name, [&] {
    const MPI_Comm comm = planned.members.empty() ? MPI_COMM_NULL : handle(members_[number]);
    rank.files[number] =
        rank.client->open(comm, planned.name, planned.is_checkpoint ? "checkpoint" : "series",
                          told_[number].before.after);
    rank.first_steps[number] = rank.files[number]->current_step();
    told_[number].first_step = rank.first_steps[number];
    check_beginning(rank, number);
    if (planned.defines_time) {
      rank.files[number]->define(iocomp::contents::time_variable,
                                 iocomp::array::ElementType::float64, 0, nullptr);
    }
    for (std::size_t i = 0; i < planned.variables.size(); ++i) {
      define(rank, number, i);
    }
    if (planned.has_attributes) {
      rank.files[number]->set_attribute(-1, attribute_name, attribute_of(planned));
      rank.files[number]->set_attribute(rank.variables[number].front(), attribute_name,
                                        attribute_of(planned));
    }
  });
  if (code != 0) {
    rank.files[number] = nullptr;  // finalize closes it, if it is open
  }
}

// Behind what it keeps. Steps that had failed in an earlier job may keep their numbers.
void Job::check_beginning(const Rank& rank, std::size_t number) {
  const Found& before = told_[number].before;
  std::int64_t least = 0;
  for (const auto& [step, file] : before.steps) {
    const bool is_kept = plan_.files[number].goes_on && step <= before.after;
    least = is_kept ? step + 1 : least;
  }
  const std::int64_t begins = rank.first_steps[number];
  if (begins < least || begins > std::ssize(plan_.files[number].steps)) {
    violations_.push_back(plan_.files[number].name + " goes on at step " + std::to_string(begins) +
                          ", it has " + std::to_string(least));
  }
}

void Job::define(Rank& rank, std::size_t number, std::size_t i) {
  const PlannedFile& planned = plan_.files[number];
  auto& file = *rank.files[number];
  const Variable& variable = planned.variables[i];
  const auto first =
      std::min(static_cast<std::size_t>(rank.first_steps[number]), planned.steps.size() - 1);
  auto shape = planned.steps[first].variables[i].shape;
  if (i == 0 && is_mistaken(planned, rank, Mistake::other_shape)) {
    ++shape.front();
  }
  rank.variables[number].push_back(
      file.define(variable.name, variable.type, static_cast<int>(shape.size()), shape.data()));
  rank.shapes[number].push_back(shape);
  if (variable.fill != 0) {
    const std::array<std::uint64_t, 2> value{
        0x0101010101010101U * static_cast<unsigned>(variable.fill),
        0x0101010101010101U * static_cast<unsigned>(variable.fill)};
    file.set_fill(rank.variables[number].back(), value.data());
  }
}

void Job::make_step(Rank& rank, std::size_t number, std::int64_t step) {
  const PlannedFile& planned = plan_.files[number];
  const Step& now = planned.steps[static_cast<std::size_t>(step)];
  auto& file = *rank.files[number];
  std::vector<std::pair<Rank::Buffer*, Await>> later;
  const auto wait_for = [&](Rank::Buffer& buffer, Await state) {
    const int code = attempt(rank.number, number, "wait", [&] {
      constexpr int patience = 30;
      for (int i = 0; buffer.is_polled && i < patience; ++i) {
        if (rank.client->test(buffer.ticket, static_cast<State>(state))) {
          return;
        }
        rank.client->progress();
        world_.spend(20 * microsecond);
      }
      rank.client->wait(buffer.ticket, static_cast<State>(state));
    });
    if (code == 0) {
      std::ranges::fill(buffer.bytes, poison);
    }
  };
  if (planned.has_times) {
    (void)attempt(rank.number, number, "begin of a step",
                  [&] { file.begin_step(step, time_of(step)); });
  }
  planned.has_rows ? set_rows(rank, number, now) : set_shapes(rank, number, now);
  for (std::size_t v = 0; v < now.variables.size(); ++v) {
    for (std::size_t p = 0; p < now.variables[v].puts.size(); ++p) {
      const Put& put = now.variables[v].puts[p];
      if (put.rank != rank.number) {
        continue;
      }
      const std::size_t size = iocomp::array::size_bytes(planned.variables[v].type);
      auto buffer = std::make_unique<Rank::Buffer>();
      iocomp::client::PutArguments arguments;
      arguments.start = put.start.data();
      arguments.count = put.count.data();
      arguments.buffered = put.is_buffered;
      auto memory_shape = put.count;
      auto memory_start = std::vector<std::int64_t>(put.count.size(), 0);
      std::vector<std::byte> values = values_of(planned, v, step, put.start, put.count);
      if (put.is_strided) {  // the last dimension is longer in memory, and begins at 1
        const auto row = static_cast<std::size_t>(put.count.back()) * size;
        const std::size_t rows = values.size() / row;
        std::vector<std::byte> padded(rows * (row + 2 * size), poison);
        for (std::size_t i = 0; i < rows; ++i) {
          std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * row), row,
                      padded.begin() + static_cast<std::ptrdiff_t>(i * (row + 2 * size) + size));
        }
        values = std::move(padded);
        memory_shape.back() += 2;
        memory_start.back() = 1;
        arguments.memory_shape = memory_shape.data();
        arguments.memory_start = memory_start.data();
      }
      iocomp::array::Decomposition scattered;
      if (put.is_scattered) {
        scattered = reversed(now.variables[v].shape, put, values, size);
        arguments.start = arguments.count = nullptr;
        arguments.decomposition = &scattered;
      }
      buffer->bytes = memory_for(rank, buffer->own, put, values.size(),
                                 place_of(put, now.variables[v].shape) * size);
      std::ranges::copy(values, buffer->bytes.begin());
      arguments.values = buffer->bytes.data();
      int& end = ends_[static_cast<std::size_t>(rank.number)][number].tickets[{step, v, p}];
      end = attempt(rank.number, number, "put of " + planned.variables[v].name,
                    [&] { buffer->ticket = file.put(rank.variables[number][v], arguments); });
      if (end != 0) {
        told_[number].refused.insert({step, v, p});
        continue;
      }
      buffer->file = number;
      buffer->is_polled = put.is_polled;
      buffer->end = &end;
      if (is_mistaken(planned, rank, Mistake::overlap)) {
        arguments.buffered = true;
        (void)attempt(rank.number, number, "another put of " + planned.variables[v].name,
                      [&] { (void)file.put(rank.variables[number][v], arguments); });
      }
      if (put.is_scattered) {
        rank.client->forget(scattered);
      }
      if (put.is_buffered) {
        std::ranges::fill(buffer->bytes, poison);  // the library has a copy
      }
      rank.buffers.push_back(std::move(buffer));
      world_.spend(2 * microsecond);
      const bool needs_no_end = plan_.mode == Mode::kernel && !planned.is_synchronous &&
                                !planned.is_compressed && !has_mistake(planned);
      if (put.await == Await::nothing) {
        continue;
      }
      if (put.await == Await::handed_over || (put.is_polled && needs_no_end)) {
        wait_for(*rank.buffers.back(), put.await);
      } else {
        later.emplace_back(rank.buffers.back().get(), put.await);
      }
    }
  }
  const std::string name = "step " + std::to_string(step) + " of " + planned.name;
  for (std::size_t other = 0; other < plan_.files.size(); ++other) {
    if (plan_.files[other].name == planned.comes_after) {
      for (std::int64_t before = rank.first_steps[other]; before < rank.ended[other]; ++before) {
        told_[number].predecessors[step].insert(before);
      }
    }
  }
  rank.ended[number] = step + 1;
  if (attempt(rank.number, number, "end of " + name, [&] { file.end_step(); }) == 0) {
    say(rank.number, "has ended " + name);
  }
  for (const auto& [buffer, state] : later) {
    wait_for(*buffer, state);
  }
  if (const auto wanted = now.waits_for[static_cast<std::size_t>(rank.number)]) {
    wait_step(rank, number, std::max(*wanted, rank.first_steps[number]));
  }
  if (now.computes > 0) {
    world_.spend(now.computes * microsecond);
  }
}

void Job::set_shapes(Rank& rank, std::size_t number, const Step& now) {
  for (std::size_t v = 0; v < now.variables.size(); ++v) {
    const auto& shape = now.variables[v].shape;
    if (shape != rank.shapes[number][v]) {
      (void)attempt(rank.number, number, "set_shape", [&] {
        rank.files[number]->set_shape(rank.variables[number][v], shape.data());
      });
      rank.shapes[number][v] = shape;
    }
  }
}

// Each member has said beforehand where its rows are: the library has to find the same place.
void Job::set_rows(Rank& rank, std::size_t number, const Step& now) {
  for (std::size_t v = 0; v < now.variables.size(); ++v) {
    if (!std::ranges::equal(rank.shapes[number][v] | std::views::drop(1),
                            now.variables[v].shape | std::views::drop(1))) {
      set_shapes(rank, number, now);  // rows alone may change by what follows
    }
  }
  std::vector<std::int64_t> rows;
  for (const auto& part : now.variables) {
    const auto own = std::ranges::find(part.puts, rank.number, &Put::rank);
    rows.push_back(own == part.puts.end() ? 0 : own->count.front());
  }
  iocomp::client::Rows found;
  const int code = attempt(rank.number, number, "set_rows", [&] {
    found = rank.client->set_rows(rank.files[number], rank.variables[number], rows);
  });
  for (std::size_t v = 0; v < now.variables.size() && code == 0; ++v) {
    const auto& part = now.variables[v];
    const auto own = std::ranges::find(part.puts, rank.number, &Put::rank);
    const std::string& name = plan_.files[number].variables[v].name;
    if (own != part.puts.end() && found.first[v] != own->start.front()) {
      violations_.push_back("rank " + std::to_string(rank.number) + ": its rows of " + name +
                            " begin at " + std::to_string(found.first[v]) + ", not at " +
                            std::to_string(own->start.front()));
    }
    if (found.total[v] != part.shape.front()) {
      violations_.push_back("rank " + std::to_string(rank.number) + ": " + name + " has " +
                            std::to_string(found.total[v]) + " rows, not " +
                            std::to_string(part.shape.front()));
    }
    rank.shapes[number][v] = part.shape;
  }
}

void Job::wait_step(Rank& rank, std::size_t number, std::int64_t step) {
  Told& told = told_[number];
  const std::string name = "step " + std::to_string(step) + " of " + plan_.files[number].name;
  try {
    rank.files[number]->wait_step(step);
    say(rank.number, "is told that " + name + " is committed");
    told.committed.insert(step);
  } catch (const Error& error) {
    failed(rank.number, number, "wait for " + name, static_cast<int>(error.code()), error.what());
    if (error.code() != ErrorCode::timed_out && error.code() != ErrorCode::invalid_argument) {
      told.failed.emplace(step, error.what());
    }
  }
  if (told.committed.contains(step) && told.failed.contains(step) &&
      !is_in_doubt(plan_, plan_.files[number])) {
    violations_.push_back(
        name + " is committed for one rank, and failed for another: " + told.failed.at(step));
  }
}

void Job::close_later(Rank& rank, std::size_t number) {
  const std::string& name = plan_.files[number].name;
  (void)attempt(rank.number, number, "close_later of " + name, [&] {
    rank.closings.emplace_back(number, rank.client->close_later(rank.files[number]));
  });
  say(rank.number, "closes " + name + " later");
}

// @param wait  until the file is closed.
void Job::close(Rank& rank, std::size_t number, const std::function<void()>& wait) {
  const std::string& name = plan_.files[number].name;
  const int code = attempt(rank.number, number, "close of " + name, wait);
  const Failures& failures = failures_of_[static_cast<std::size_t>(rank.number)][number];
  // A story of the file as a whole may name the first step that it concerns.
  const bool can_tell = !has_mistake(plan_.files[number]) && !plan_.faults.killed_server &&
                        !plan_.faults.stopped_process && !failures.is_whole_file;
  for (std::int64_t step = rank.first_steps[number];
       step < static_cast<std::int64_t>(steps_of(rank, number)) && code == 0 && can_tell; ++step) {
    if (!failures.steps.contains(step)) {
      told_[number].closed.insert(step);
    }
  }
  ask_tickets(rank, number);
  if (code != 0) {
    return;
  }
  say(rank.number, "has closed " + name);
  // What was told before is not told again: then close may say yes.
  told_[number].is_closed =
      ++closes_[number] == count_members(plan_, plan_.files[number]) && failures_ == 0;
}

// Close settles every ticket of the file.
void Job::ask_tickets(Rank& rank, std::size_t number) {
  for (const auto& buffer : rank.buffers) {
    if (buffer->file != number) {
      continue;
    }
    bool is_durable = false;
    const auto asked =
        iocomp::outcome_of([&] { is_durable = rank.client->test(buffer->ticket, State::durable); });
    *buffer->end = static_cast<int>(asked.code);
    if (!asked.ok()) {
      say(rank.number, "has a ticket that failed: " + asked.story);
    }
    if (asked.ok() && !is_durable) {
      violations_.push_back("rank " + std::to_string(rank.number) + ": a ticket of " +
                            plan_.files[number].name + " is not settled after close");
    }
  }
}

}  // namespace simulation
