// SPDX-License-Identifier: BSD-3-Clause
#include "client/client.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/huge_memory.h"
#include "base/log.h"
#include "base/open_folder.h"
#include "base/pages.h"
#include "base/path.h"
#include "client/file.h"
#include "client/group_ranks.h"
#include "client/guard.h"
#include "client/link.h"
#include "client/takeover/lost_carrier.h"
#include "commit/file_terms.h"
#include "config/file_settings.h"
#include "config/settings.h"
#include "contents/rules.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/peers.h"
#include "mpi/wait.h"
#include "protocol/messages.h"

namespace iocomp::client {

// Huge pages are worth more than shared memory in small pages, which slows the program's own loops.
// They help the program, the kernel, and a server that pulls. So `auto` shares only if it can have
// both.
void* ArrayMemory::allocate(std::size_t bytes) {
  const bool shares = settings_.text("test.way") == "in-place" || shared_memory_has_huge_pages();
  if (shares) {
    const auto shared = link_.export_memory(std::max<std::size_t>(bytes, 1));
    if (!shared.empty()) {
      return shared.data();
    }
  }
  HugeMemory memory{std::max<std::size_t>(bytes, 1), "an array"};
  std::byte* const first = memory.bytes().data();
  own_.emplace(first, std::move(memory));
  return first;
}

void ArrayMemory::free(void* memory) {
  if (!link_.withdraw_memory(static_cast<const std::byte*>(memory)) && own_.erase(memory) == 0) {
    throw Error{ErrorCode::invalid_argument,
                "free of memory that iocomp_alloc did not return, or that was freed already"};
  }
}

namespace {

// Ranks that wait for one another for one file must not delay the others for another file. If
// servers are lost, that may be one of their files.
mpi::WaitPolicy policy_of(Client& client, bool has_others, mpi::WaitPolicy policy) {
  if (has_others) {
    policy.meanwhile = [&client] { client.progress(); };
  }
  return policy;
}

double seconds_per_byte(const config::FileSettings& file, std::int64_t writers) {
  return file.bandwidth > 0 ? static_cast<double>(writers) / static_cast<double>(file.bandwidth)
                            : 0;
}

// A step that a library writes as a whole must fit into memory, and is written at once.
void check_step_formats(const std::string& name, const config::FileSettings& file,
                        const formats::Format& format) {
  if (!format.traits().writes_whole_steps()) {
    return;
  }
  const auto refuse = [&](const std::string& setting) {
    throw Error{ErrorCode::invalid_setting, "files." + name + '.' + setting + ": the back-end " +
                                                std::string{format.name()} +
                                                " writes whole steps out of memory" +
                                                (file.compresses() ? " where it compresses" : "") +
                                                "; other back-ends can do that"};
  };
  if (file.when_full == config::WhenFull::spill) {
    refuse("when_full = \"spill\"");
  }
  if (file.bandwidth > 0) {
    refuse("bandwidth");
  }
}

// The time axis of formats whose dimensions have names, as CF wants it.
contents::Attributes time_attributes(const config::FileSettings& file,
                                     const contents::Rules& rules) {
  if (!rules.has_dimensions || (file.time_units.empty() && file.calendar.empty())) {
    return {};
  }
  contents::Attributes attributes;
  const auto set = [&](const char* name, std::string_view text) {
    if (!text.empty()) {
      attributes[name] = contents::text_attribute(text);
    }
  };
  set("standard_name", "time");
  set(contents::units_attribute, file.time_units);
  set(contents::calendar_attribute, file.calendar);
  return attributes;
}

}  // namespace

Client::Client(const config::Settings& settings, const mpi::WaitPolicy& policy,
               const disk::Options& disk, Place place, transport::Transport* transport)
    : settings_{settings},
      place_{std::move(place)},
      link_{transport, place_.servers,
            policy_of(*this, place_.has_kernel || transport != nullptr, policy),
            static_cast<std::size_t>(settings.bytes("client.buffer_memory"))},
      meeting_{place_.comm, {}, link_.policy()},
      array_memory_{settings, link_},
      disk_{disk, link_, {[this] { submit_files(); }, [this] { return advance_files(); }}} {
  link_.counters().record_into(place_.timeline);
  link_.work_with(disk.crew);
  if (place_.stripes != nullptr) {
    link_.copies().count_stripes([stripes = place_.stripes] { return stripes->own_bytes(); });
    place_.stripes->share_bound_with(
        [this](std::size_t bytes) { return link_.copies().lets_stripes_have(bytes); });
  }
  if (place_.has_kernel) {
    disk_.start();
  }
}

Client::~Client() = default;

// A key that is the same on all members without a message. It depends on the name, the group, and
// the number of times that this group has opened it.
std::uint64_t Client::next_key(const std::string& name, const std::vector<int>& members) {
  std::uint64_t key = empty_digest;
  for (const int rank : members) {
    key = mix(key, static_cast<std::uint64_t>(rank));
  }
  const std::string group_name = name + ':' + std::to_string(key);
  key = mix(key, name);
  return mix(key, opens_[group_name]++) | 1U;  // 0 means "no file"
}

File* Client::open(MPI_Comm comm, const std::string& name, const std::string& kind,
                   std::int64_t after, const std::string& options) {
  commit::check_name(name);
  settle_closed();
  OpenedFile opened;
  opened.settings = config::file_settings(settings_.with_options(name, options), name, kind);
  opened.options = options;
  const auto& file = opened.settings;
  auto terms = commit::format_options(file);
  const auto& format = formats::format(file.backend, settings_.text("storage.modules"), terms);
  opened.format = &format;
  check_step_formats(name, file, format);
  const MPI_Comm group = comm == MPI_COMM_NULL ? place_.comm : comm;
  opened.members = ranks_within(place_.comm, group);
  const std::uint64_t key = next_key(name, opened.members);
  opened.after = after;
  opened.folder = address_of(folder_of(commit::path_in_force(name, file.path, format)));
  opened.file = std::make_unique<File>(
      File::Setup{.name = name,
                  .key = key,
                  .rules = format.rules(terms),
                  .alignment_bytes = file.alignment_bytes,
                  .one_file = !file.file_per_step,
                  .kept_bits = terms.kept_bits,
                  .kept_type =
                      [file, &format, terms](const contents::Variable& variable) {
                        auto stored = variable;
                        stored.type = commit::kept_type(file, variable);
                        format.check(stored, terms);
                        return stored.type;
                      },
                  .is_first_member = opened.members.front() == place_.rank,
                  .time_attributes = time_attributes(file, format.rules(terms)),
                  .seconds_per_byte = seconds_per_byte(
                      file, link_.has_servers() && !file.synchronous ? place_.servers.size()
                                                                     : std::ssize(opened.members))},
      link_);
  // Files without servers need it too, because a call for one may find the servers lost.
  opened.file->when_carrier_is_lost([this] { takeover_.go_on_without_servers(); });
  if (file.sums_blocks) {
    opened.file->sum_blocks();
  }
  sequence_.begin(opened);
  const Outcome carried = outcome_of([&] {
    const bool has_or_had_servers =
        link_.has_servers() || (link_.loss() && !has_bug(Bug::opened_without_others));
    if (!has_or_had_servers || file.synchronous || !open_with_servers(opened)) {
      open_without_servers(opened, group);
    }
  });
  in_file(carried, name).throw_unless_ok();
  tell(opened);
  OpenedFile& kept = files_.emplace(key, std::move(opened)).first->second;
  sequence_.opened(kept);
  return kept.file.get();
}

void Client::come_after(File* file, const std::string& name) {
  commit::check_name(name);
  sequence_.add(*file, name);
}

// @return false if the servers were lost before they had opened the file. They may be lost before
// this rank comes to open it, and other ranks may have opened it before.
bool Client::open_with_servers(OpenedFile& opened) {
  try {
    remote_opener_.open(opened);
    if (settings_.text("transport.kind") == "auto") {
      remote_opener_.offer_own_writes(opened);
    }
    if (!opened.format->traits()
             .writes_whole_steps()) {  // otherwise blocks are written when all have ended
      watch(opened);
    }
    return true;
  } catch (const ServersLost&) {
    takeover_.go_on_without_servers();
    takeover_.check_not_refused(opened);
    const bool is_open = takeover_.is_opened_by_servers(opened);
    if (is_open) {
      if (opened.remote->lacks_beginning()) {
        opened.remote->begin_at(takeover_.find_beginning(opened));
        opened.file->begin_at(opened.remote->beginning());
      }
      takeover_.carry_on(opened);
    }
    opened.remote = nullptr;
    return is_open;
  }
}

// The first file is told in the start line, or behind it if there are servers. A file that is not
// written as the session says is always told, by the first of its members.
void Client::tell(const OpenedFile& opened) {
  const auto& file = opened.settings;
  const std::string obstacle = disk_.is_started() && !file.synchronous
                                   ? local_opener_.obstacle_to_kernel(*opened.format)
                                   : std::string{};
  if (!place_.start_line.empty()) {
    const std::string line = std::exchange(place_.start_line, {}) + opened.file->name() + " → " +
                             commit::path_in_force(opened.file->name(), file.path, *opened.format) +
                             " (" + file.backend +
                             (file.synchronous && place_.has_kernel ? ", synchronous)" : ")") +
                             (obstacle.empty() ? "" : "; " + obstacle);
    std::fprintf(stderr, "%s\n", line.c_str());
  } else if (!obstacle.empty() && opened.members.front() == place_.rank) {
    log::warning("file \"" + opened.file->name() + "\": " + obstacle);
  }
}

void Client::open_without_servers(OpenedFile& opened, MPI_Comm group) {
  const bool by_kernel = disk_.is_started() && !opened.settings.synchronous &&
                         local_opener_.obstacle_to_kernel(*opened.format).empty();
  local_opener_.open(opened, group, !by_kernel);
  if (by_kernel &&
      opened.format->traits().offsets_by_layout) {  // otherwise its blocks may wait for a rank
    watch(opened);
  }
}

void Client::watch(OpenedFile& opened) {
  const auto& file = opened.settings;
  // A program that asks for these settings accepts that the file is behind.
  const bool may_lag = file.when_full == config::WhenFull::spill || file.bandwidth > 0;
  if (file.guarded && !may_lag) {
    opened.file->watch_with(Guard{place_.core_share});
  }
}

std::unique_ptr<reading::Input> Client::open_input(MPI_Comm comm, const std::string& name,
                                                   const std::string& options) {
  return input_opener_.open(comm, name, options, [this] { progress(); });
}

void Client::submit_files() {
  for (auto& [key, opened] : files_) {
    if (opened.local != nullptr) {
      opened.local->submit();
    }
  }
}

bool Client::advance_files() {
  bool moved = false;
  for (auto& [key, opened] : files_) {
    moved = (opened.local != nullptr && opened.local->advance()) || moved;
    moved = (opened.remote != nullptr && opened.remote->advance()) || moved;
  }
  sequence_.tell();
  return moved;
}

void Client::close(File* file) {
  const std::uint64_t key = file->key();
  const Outcome closed = end(files_.find(key));
  const Outcome untold = link_.failures().take_untold(key);
  const Outcome& told = untold.ok() || has_bug(Bug::failure_not_told) ? closed : untold;
  told.throw_unless_ok();
}

// The book of failures has its outcome then, which may have been told before.
Outcome Client::end(OpenedFiles::iterator open) {
  const std::uint64_t key = open->first;
  const Outcome closed = outcome_of([&] { open->second.file->close(); });
  if (!closed.ok()) {
    link_.failures().add(key, FailureBook::no_step, closed);
  }
  forget(open);
  return closed;
}

void Client::forget(OpenedFiles::iterator closed) {
  OpenedFile& opened = closed->second;
  sequence_.closed(opened);
  const bool have_all_left = opened.local == nullptr || opened.local->is_over();
  opened.file.reset();
  if (have_all_left) {
    opened.free_communicators();
  }
  files_.erase(closed);
}

std::uint64_t Client::close_later(File* file) {
  OpenedFile& opened = files_.find(file->key())->second;
  Ticket ticket;
  ticket.closes = file->key();
  ticket.variable = "the closing of file \"" + file->name() + '"';
  ticket.pieces = 1;
  opened.closing = link_.tickets().open(std::move(ticket));
  const std::uint64_t number = opened.closing;
  const Outcome begun = outcome_of([&] { file->begin_close(); });
  if (!begun.ok()) {
    link_.failures().add(file->key(), FailureBook::no_step, begun);
  }
  settle_closed();
  return number;
}

// Settles files whose close the program does not wait for.
void Client::settle_closed() {
  for (auto next = files_.begin(); next != files_.end();) {
    const auto found = next++;
    const auto& [key, opened] = *found;
    if (opened.closing == 0) {
      continue;
    }
    bool is_closed = false;
    Outcome outcome = outcome_of([&] {
      is_closed = opened.file->is_closed();
      if (is_closed) {
        opened.file->close();
      }
    });
    if (!is_closed && outcome.ok()) {
      continue;
    }
    if (!outcome.ok()) {
      link_.failures().add(key, FailureBook::no_step, outcome);
    }
    outcome = link_.failures().untold(key);
    Ticket& ticket = *link_.tickets().find(opened.closing);
    ticket.written = ticket.durable = outcome.ok() ? ticket.pieces : 0;
    ticket.failure = outcome;
    link_.tickets().settle(opened.closing);
    forget(found);
  }
}

bool Client::has_reached(std::uint64_t ticket, State state) {
  if (const Ticket* open = link_.tickets().find(ticket); open != nullptr && open->closes != 0) {
    const std::uint64_t file = open->closes;
    settle_closed();
    if (state == State::handed_over) {  // a failure of the file is told with the other states
      return !files_.contains(file) || link_.ledger().memory_is_free(file);
    }
  }
  return link_.ledger().has_reached(ticket, state);
}

// A communicator of the members. If servers carry a file of some ranks, or of all in another order,
// only this needs one. There is no nonblocking way to make it, and all members are in the same
// call.
MPI_Comm Client::members_comm(OpenedFile& opened) {
  if (opened.comm != MPI_COMM_NULL) {
    return opened.comm;
  }
  int size = 0;
  mpi::check(MPI_Comm_size(place_.comm, &size));
  if (std::cmp_equal(opened.members.size(), size) && std::ranges::is_sorted(opened.members)) {
    return place_.comm;
  }
  if (opened.rows_comm == MPI_COMM_NULL) {
    const mpi::Group all = mpi::group_of(place_.comm);
    MPI_Group raw = MPI_GROUP_NULL;
    mpi::check(MPI_Group_incl(all.raw(), checked_cast<int>(std::ssize(opened.members)),
                              opened.members.data(), &raw));
    const mpi::Group members{raw};
    mpi::check(MPI_Comm_create_group(place_.comm, members.raw(), 0, &opened.rows_comm));
    mpi::check(MPI_Comm_set_errhandler(opened.rows_comm, MPI_ERRORS_RETURN));
  }
  return opened.rows_comm;
}

Rows Client::set_rows(File* file, std::span<const int> variables,
                      std::span<const std::int64_t> rows, const Outcome& given) {
  OpenedFile& opened = files_.find(file->key())->second;
  const MPI_Comm comm = members_comm(opened);
  const Outcome checked = outcome_of([&] {
    given.throw_unless_ok();
    const auto members = static_cast<std::int64_t>(opened.members.size());
    file->check_rows(variables, rows, std::numeric_limits<std::int64_t>::max() / members);
  });
  std::uint64_t digest = empty_digest;
  for (const int variable : variables) {
    digest = mix(digest, static_cast<std::uint64_t>(variable));
  }
  const Meeting::Extras have_failed = Meeting{comm, opened.members, link_.policy()}.meet(
      {.name = "set_rows",
       .file = file->key(),
       .file_name = file->name(),
       .step = file->current_step(),
       .definitions = digest,
       .last_definition = "rows of " + std::to_string(variables.size()) + " variables"},
      {checked.ok() ? 0 : 1});
  if (have_failed.front() != 0) {
    const char* what = "the other ranks to tell why set_rows has failed";
    const Outcome first = mpi::agree(comm, checked, link_.policy(), what);
    throw Error{first.code, first.story};
  }
  Rows found{.first = {rows.begin(), rows.end()}, .total = {rows.begin(), rows.end()}};
  mpi::sums(comm, found.first, found.total, link_.policy(), "the other ranks to call set_rows");
  file->set_rows(variables, found.total);
  return found;
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
  takeover_.go_on_without_servers();
  if (has_reached(ticket, state)) {
    return true;
  }
  urge_when_polled(ticket, state);
  return has_reached(ticket, state);
}

// A program that asks again and again is waiting.
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
    takeover_.go_on_without_servers();
  } catch (const Error& error) {
    // otherwise the end of the step must come first
    if (error.code() != ErrorCode::invalid_argument) {
      throw;
    }
  }
}

void Client::wait(std::uint64_t ticket, State state) {
  try {
    wait_once(ticket, state);
  } catch (const ServersLost&) {
    takeover_.go_on_without_servers();
    wait_once(ticket, state);
  }
}

void Client::wait_puts(File& file, State state) {
  std::uint64_t& next = file.puts().not_awaited(state);
  std::vector<std::uint64_t> numbers;
  link_.tickets().for_each([&](std::uint64_t number, const Ticket& ticket) {
    if (ticket.file == file.key() && ticket.closes == 0 && number >= next) {
      numbers.push_back(number);
    }
  });
  std::ranges::sort(numbers);
  next = link_.tickets().next();
  Outcome first;
  for (const std::uint64_t number : numbers) {
    const Outcome outcome = outcome_of([&] { wait(number, state); });
    const Ticket* const open = link_.tickets().find(number);
    if (!outcome.ok() && open != nullptr && open->failure.ok()) {
      next = std::min(next, number);  // the wait has failed, and not the put
    }
    first = first.ok() ? outcome : first;
  }
  first.throw_unless_ok();
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
  link_.wait_until([&] { return has_reached(ticket, state); },
                   [&] {
                     constexpr const char* names[] = {"", "handed over", "written", "durable"};
                     const Ticket* open = link_.tickets().find(ticket);
                     return "ticket " + std::to_string(ticket) + " (variable \"" +
                            (open ? open->variable : "?") + "\", step " +
                            (open ? std::to_string(open->step) : "?") + ") of compute rank " +
                            std::to_string(place_.rank) + " to be " +
                            names[static_cast<int>(state)] +
                            (link_.has_servers() ? " by its servers" : "");
                   });
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

void Client::say_goodbye() {
  if (link_.has_servers()) {
    // Servers leave together, after all ranks have said goodbye. From then on no other server takes
    // messages that are held back for it.
    try {
      link_.wait_until([&] { return link_.server_side().is_idle(); },
                       [] { return std::string{"servers to take earlier messages"}; });
    } catch (const Error&) {
      if (!link_.server_side().is_silent(home())) {  // it need not wait for this rank
        link_.post(home(), protocol::message(protocol::Kind::bye, 0, {}));
      }
      throw;
    }
    link_.post(home(), protocol::message(protocol::Kind::bye, 0, {}));
    link_.wait_until(
        [&] { return link_.server_side().farewell().has_value() && link_.server_side().is_idle(); },
        [&] { return "the goodbye of server " + std::to_string(home()); });
  }
}

// If the meeting is over, somebody was told why. With servers, ranks may be in other calls.
std::optional<std::int64_t> Client::meet(const char* call, std::int64_t mine) {
  if (link_.loss() || link_.has_servers() || !can_meet()) {
    return {};
  }
  return meeting_.meet({.name = call}, {mine}).front();
}

std::int64_t Client::most_of(const char* call, std::int64_t mine) {
  if (const auto found = meet(call, mine)) {
    return *found;
  }
  const std::string others = std::string{"the other compute ranks in iocomp_"} + call;
  mpi::maximum(place_.comm, std::span{&mine, 1}, link_.policy(), others.c_str());
  return mine;
}

Outcome Client::finalize() {
  Outcome first;
  while (!files_.empty()) {
    const Outcome closed = end(files_.begin());
    first = first.ok() ? closed : first;
  }
  try {
    say_goodbye();
  } catch (const ServersLost&) {  // they owe nothing else
    takeover_.go_on_without_servers();
  }
  if (link_.loss()) {
    link_.server_side().say_gone();
  }
  const Outcome met = outcome_of([this] { (void)meet("finalize"); });
  if (!met.ok()) {
    link_.failures().add(0, FailureBook::no_step, met);
    first = first.ok() ? met : first;
  }
  const Outcome untold = link_.failures().take_untold();
  return untold.ok() ? first : untold;
}

// MPI_Finalize waits for the other ranks, so this rank waits here for what they need of it.
void Client::give_up(const std::function<void()>& part) {
  const std::string cause = "MPI_Finalize was called without iocomp_finalize";
  const Outcome why{ErrorCode::invalid_argument,
                    cause + " by compute rank " + std::to_string(place_.rank)};
  if (place_.rank == 0) {
    std::fprintf(stderr, "iocomp: %s\n", cause.c_str());
  }
  for (const auto& [key, opened] : files_) {
    const auto lost = opened.file->give_up(why);
    if (opened.members.front() == place_.rank) {
      std::fprintf(stderr,
                   "iocomp: file \"%s\" was not closed: what was put into it from step %lld on is "
                   "lost\n",
                   opened.file->name().c_str(), static_cast<long long>(lost));
    }
  }
  const auto are_closed = [this] {
    int open = 0;
    for (const auto& [key, opened] : files_) {
      open += opened.local != nullptr && !opened.local->is_closed() ? 1 : 0;
    }
    return open == 0;
  };
  (void)outcome_of([&] {
    link_.wait_until(are_closed,
                     [] { return std::string{"the other ranks to close their files"}; });
  });
  for (const auto& [key, opened] : files_) {
    if (opened.local != nullptr) {
      opened.local->abandon(why);
    }
  }
  try {
    say_goodbye();
  } catch (const ServersLost&) {
  }
  (void)outcome_of([this] { (void)meet("MPI_Finalize without iocomp_finalize"); });
  part();
  // Later calls are told so, and make no calls of MPI.
  for (auto& [key, opened] : files_) {
    opened.file->carry_with(std::make_unique<LostCarrier>(
        key, why, link_, [](std::int64_t /*step*/) { return false; }));
    opened.local = nullptr;
    opened.remote = nullptr;
    opened.comm = opened.openers = MPI_COMM_NULL;  // to free them takes all members
  }
  link_.server_side().leave();
  meeting_.end(why);
}

}  // namespace iocomp::client
