#include "client/client.h"

#include <mpi.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/pages.h"
#include "client/file.h"
#include "commit/xdmf.h"
#include "config/file_settings.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "mpi/error.h"
#include "mpi/wait.h"
#include "protocol/messages.h"

namespace iocomp::client {

void Client::check_name(const std::string& name) {
  const bool allowed = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (name.empty() || !allowed || name.front() == '.' || name.size() > 200) {
    throw Error{ErrorCode::invalid_argument,
                "the file name \"" + name +
                    "\" is not allowed: 1 to 200 letters, digits, '-', '_' and '.', not "
                    "beginning with '.'; its path is set by files.<name>.path"};
  }
}

Client::Client(const config::Settings& settings, const mpi::WaitPolicy& policy,
               const disk::Options& disk, Place place, transport::Transport* transport)
    : settings_{settings},
      disk_{disk},
      place_{std::move(place)},
      link_{transport, place_.servers, policy_with_kernel(policy),
            static_cast<std::size_t>(settings.bytes("client.buffer_memory"))},
      meeting_{place_.comm, {}, link_.policy()} {
  if (place_.has_kernel) {
    start_kernel();
  }
}

Client::~Client() = default;

std::vector<int> Client::members(MPI_Comm comm) const {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  mpi::check(MPI_Comm_group(place_.comm, &all));
  mpi::check(MPI_Comm_group(comm, &group));
  int size = 0;
  mpi::check(MPI_Group_size(group, &size));
  std::vector<int> theirs(static_cast<std::size_t>(size));
  std::iota(theirs.begin(), theirs.end(), 0);
  std::vector<int> ours(theirs.size());
  mpi::check(MPI_Group_translate_ranks(group, size, theirs.data(), all, ours.data()));
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  if (std::find(ours.begin(), ours.end(), MPI_UNDEFINED) != ours.end()) {
    throw Error{ErrorCode::invalid_argument,
                "the communicator of a file may contain only ranks of iocomp_comm(): one of this "
                "has others"};
  }
  return ours;
}

File* Client::open(MPI_Comm comm, const std::string& name, const std::string& kind) {
  check_name(name);
  const auto file = config::file_settings(settings_, name, kind);
  const auto& format = formats::format(file.backend, modules()).chosen(format_options(file));
  if (file.xdmf) {
    commit::check_xdmf(name, file.path.empty() ? name : file.path, format);
  }
  const MPI_Comm group = comm == MPI_COMM_NULL ? place_.comm : comm;
  const auto ranks = members(group);

  // The same on all members without a message: name, group, and how often this group opened it.
  std::string group_name = name + ':';
  std::uint64_t key = empty_digest;
  for (const int rank : ranks) {
    key = mix(key, static_cast<std::uint64_t>(rank));
  }
  group_name += std::to_string(key);
  key = mix(key, name);
  key = mix(key, opens_[group_name]++) | 1U;  // 0 means "no file"

  Opened opened;
  opened.file =
      std::make_unique<File>(name, key, format, file.alignment_bytes, !file.file_per_step, link_);
  bool is_remote = link_.has_servers() && !file.synchronous;
  if (is_remote) {
    opened.settings = file;
    opened.members = ranks;
    opened.format = &format;
    try {
      open_remote(opened, file, ranks);
      if (settings_.text("transport.kind") == "auto") {
        offer_kernel(opened, file, format);
      }
      if (!format.writes_whole_steps()) {  // else a rank's blocks are written when all have ended
        watch(*opened.file, file);
      }
    } catch (const ServersLost&) {
      go_on_without_servers();
      is_remote = is_opened_by_servers(opened);
      if (is_remote) {
        carry_on(opened);
      }
      opened.remote = nullptr;
    }
  }
  if (!is_remote) {
    open_without_servers(opened, file, group, ranks, format);
  }
  return files_.emplace(key, std::move(opened)).first->second.file.get();
}

void Client::close(File* file) {
  const auto found = files_.find(file->key());
  Opened& opened = found->second;
  const Outcome outcome = outcome_of([&] { opened.file->close(); });
  const bool is_lost = (opened.carrier != nullptr && !opened.carrier->lost().ok()) ||
                       (opened.kernel != nullptr && !opened.kernel->lost().ok());
  opened.file.reset();
  if (!is_lost) {
    free(opened);
  }
  files_.erase(found);
  if (!outcome.ok()) {
    throw Error{outcome.code, outcome.story};
  }
}

File* Client::owner(std::uint64_t number) {
  Ticket* ticket = link_.tickets().find(number);
  if (ticket == nullptr) {
    return nullptr;
  }
  const auto found = files_.find(ticket->file);
  return found == files_.end() ? nullptr : found->second.file.get();
}

bool Client::test(std::uint64_t ticket, State state) {
  if (!link_.tickets().knows(ticket)) {
    throw Error{ErrorCode::invalid_argument,
                "ticket " + std::to_string(ticket) + " is none of this session"};
  }
  link_.pump();
  go_on_without_servers();
  if (link_.has_reached(ticket, state)) {
    return true;
  }
  urge_when_polled(ticket, state);
  return link_.has_reached(ticket, state);
}

// Whoever asks again and again waits.
void Client::urge_when_polled(std::uint64_t ticket, State state) {
  constexpr std::uint8_t patience = 3;
  Ticket* open = link_.tickets().find(ticket);
  File* file = owner(ticket);
  if (open == nullptr || file == nullptr) {
    return;
  }
  auto& tests = open->tests.at(static_cast<std::size_t>(state));
  if (tests == patience || ++tests < patience) {
    return;
  }
  try {
    file->urge(ticket, state);
  } catch (const ServersLost&) {
    go_on_without_servers();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) {  // else: not before the end of the step
      throw;
    }
  }
}

void Client::wait(std::uint64_t ticket, State state) {
  try {
    wait_once(ticket, state);
  } catch (const ServersLost&) {
    go_on_without_servers();
    wait_once(ticket, state);
  }
}

void Client::wait_once(std::uint64_t ticket, State state) {
  if (test(ticket, state)) {
    return;
  }
  if (File* file = owner(ticket); file != nullptr) {
    if (state == State::handed_over) {
      file->wanted_back(ticket);
    }
    file->urge(ticket, state);
  }
  link_.wait_until([&] { return link_.has_reached(ticket, state); },
                   [&] {
                     constexpr const char* names[] = {"", "handed over", "written", "durable"};
                     const Ticket* open = link_.tickets().find(ticket);
                     return "ticket " + std::to_string(ticket) + " (variable \"" +
                            (open ? open->variable : "?") + "\", step " +
                            (open ? std::to_string(open->step) : "?") + ") of compute rank " +
                            std::to_string(place_.rank) + " to be " +
                            names[static_cast<int>(state)] + " by its servers";
                   });
}

// Huge pages are worth more to the program, the kernel, and a server that pulls, than shared ones
// in small pages: these slow the program's own loops. So `auto` shares only where both can be had.
void* Client::allocate(std::size_t bytes) {
  const bool shares =
      settings_.text("transport.way") == "in-place" || shared_memory_has_huge_pages();
  if (shares) {
    const auto shared = link_.export_memory(std::max<std::size_t>(bytes, 1));
    if (!shared.empty()) {
      return shared.data();
    }
  }
  HugeMemory memory{std::max<std::size_t>(bytes, 1), "an array"};
  std::byte* const first = memory.bytes().data();
  allocated_.emplace(first, std::move(memory));
  return first;
}

void Client::forget(const array::Decomposition& decomposition) {
  if (!link_.has_servers() || link_.loss()) {
    return;
  }
  try {
    link_.run_lists().forget(*decomposition.runs);
  } catch (const ServersLost&) {  // then nobody knows them
  }
}

void Client::free_memory(void* memory) {
  if (!link_.withdraw_memory(static_cast<const std::byte*>(memory)) &&
      allocated_.erase(memory) == 0) {
    throw Error{ErrorCode::invalid_argument,
                "free of memory that iocomp_alloc did not return, or that was freed already"};
  }
}

void Client::say_goodbye() {
  if (link_.has_servers()) {
    link_.post(home(), protocol::encode(0, protocol::Kind::bye));
    link_.wait_until([&] { return link_.farewell().has_value() && link_.is_idle(); },
                     [&] { return "the goodbye of server " + std::to_string(home()); });
  }
}

Outcome Client::finalize() {
  Outcome first;
  while (!files_.empty()) {
    const Outcome closed = outcome_of([&] { close(files_.begin()->second.file.get()); });
    if (first.ok()) {
      first = closed;
    }
  }
  try {
    say_goodbye();
  } catch (const ServersLost&) {  // they owe nothing but that
    go_on_without_servers();
  }
  if (link_.loss()) {
    link_.say_gone();
  } else if (!link_.has_servers()) {
    // Where the meeting is over, somebody was told why.
    const Outcome met =
        can_meet() ? outcome_of([&] { (void)meeting_.meet({.name = "finalize"}); }) : Outcome{};
    if (first.ok()) {
      first = met;
    }
  }
  const Outcome untold = link_.failures().take_any_untold();
  return first.ok() ? untold : first;
}

}  // namespace iocomp::client
