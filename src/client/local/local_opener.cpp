// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/local_opener.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/error.h"
#include "base/log.h"
#include "base/open_folder.h"
#include "client/carrier.h"
#include "client/council/file_council.h"
#include "client/council/meeting.h"
#include "client/exchange/exchange.h"
#include "client/group_ranks.h"
#include "client/local/local_carrier.h"
#include "client/local/member_blocks.h"
#include "commit/file_terms.h"
#include "commit/lead.h"
#include "commit/owner.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "config/file_settings.h"
#include "disk/engine.h"
#include "disk/pace.h"
#include "formats/aggregators.h"
#include "formats/communicator.h"
#include "formats/file_system.h"
#include "formats/format.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait_policy.h"
#include "staging/arena.h"
#include "trace/counters.h"
#include "writer/output_files.h"
#include "writing/file_writer.h"
#include "writing/stripes.h"

namespace iocomp::client {
namespace {

// Blocks are exchanged with other tags on the communicator of a file.
constexpr int council_tag = 3;
constexpr int first_free_tag = council_tag + 1;
// A block up to this size may wait until the next call that is not a put. It goes to the kernel
// with others.
constexpr std::size_t may_wait_bytes = std::size_t{16} << 10;

// A tag that only messages about this file have. Every rank of the file computes the same.
int tag_of(std::uint64_t key, MPI_Comm comm) {
  void* most = nullptr;
  int is_set = 0;
  mpi::check(MPI_Comm_get_attr(comm, MPI_TAG_UB, &most, &is_set));
  constexpr std::uint64_t least_most = 32767;
  const auto tags = is_set != 0 ? static_cast<std::uint64_t>(*static_cast<int*>(most)) : least_most;
  return static_cast<int>((key >> 1U) % (tags - first_free_tag)) + first_free_tag;
}

std::function<formats::Target(const Path&, const formats::FormatOptions&)> creator(
    const formats::Format& format, MPI_Comm writers) {
  return [&format, writers](const Path& path, const formats::FormatOptions& options) {
    return format.create(path, options, formats::Communicator{writers});
  };
}

}  // namespace

// The kernel writes at offsets. A thread may write together with those of other ranks, if all that
// it calls may be called while the program calls the same.
std::string LocalOpener::obstacle_to_kernel(const formats::Format& format) const {
  const formats::Traits& traits = format.traits();
  const bool by_threads = traits.writes_whole_steps() && traits.allows_threads;
  if (traits.is_plain() || (by_threads && place_.threads_call_mpi)) {
    return {};
  }
  if (by_threads) {
    return "such files of " + std::string{format.name()} +
           " are written by all ranks together, so synchronously; by threads if MPI is initialised "
           "with MPI_THREAD_MULTIPLE";
  }
  const bool by_mpi = traits.kind == formats::Kind::shared;
  return "files of " + std::string{format.name()} + " are written by " +
         (by_mpi ? "MPI-IO" : "the format library") + ", so synchronously" +
         (by_mpi ? "; posix writes the same bytes by the kernel" : "");
}

Meeting& LocalOpener::meet_to_open(OpenedFile& opened, MPI_Comm comm) {
  std::string name = opened.settings.checkpoint ? "open of a checkpoint" : "open of a series";
  if (!opened.options.empty()) {
    name += " with the options <" + opened.options + '>';
  }
  Meeting::Call call;
  call.name = name.c_str();
  call.file = opened.file->key();
  call.file_name = opened.file->name();
  call.step = opened.after == protocol::everything ? 0 : opened.after + 1;
  const std::string what = "the other ranks to open file \"" + call.file_name + '"';
  const bool are_all = have_same_ranks(comm, place_.comm);
  if (are_all) {
    (void)meeting_.meet(call);
  }
  // The communicator is not freed before all have closed the file.
  opened.comm = mpi::duplicate(comm, link_.policy(), what.c_str()).release();
  if (are_all) {
    return meeting_;
  }
  opened.meeting = std::make_unique<Meeting>(opened.comm, opened.members, link_.policy());
  (void)opened.meeting->meet(call);
  return *opened.meeting;
}

LocalOpener::Terms LocalOpener::terms(const OpenedFile& opened) const {
  const config::FileSettings& file = opened.settings;
  Terms terms;
  terms.council.members = opened.members;
  commit::Lead::Setup& lead = terms.council.lead;
  lead.key = opened.file->key();
  lead.open.name = opened.file->name();
  lead.open.members = std::ssize(opened.members);
  lead.may_overlap = file.may_overlap;
  lead.publisher.identity = opened.identity(place_.job);
  if (link_.loss()) {
    lead.publisher.identity.claim = commit::Owner::Claim::from_server;
  }
  lead.publisher.format = opened.format;
  lead.publisher.disk = disk_.options_for(file);
  lead.publisher.options = commit::format_options(file, lead.publisher.disk);
  lead.publisher.writers_begin = true;
  terms.blocks.key = lead.key;
  writer::OutputFiles::Setup& files = terms.blocks.writer.files;
  files.format = opened.format;
  files.options = lead.publisher.options;
  files.disk = lead.publisher.disk;
  if (file.bandwidth > 0) {
    files.disk.pace = std::make_shared<disk::Pace>(static_cast<double>(file.bandwidth) /
                                                   static_cast<double>(opened.members.size()));
  }
  return terms;
}

// Short runs meet in stripes. Stripes do not decide which of several values of an element stays,
// and they are not spilled.
void LocalOpener::put_together(const config::FileSettings& file,
                               MemberBlocks::Setup& blocks) const {
  if (place_.stripes == nullptr || file.may_overlap || file.when_full == config::WhenFull::spill) {
    return;
  }
  constexpr auto page = staging::Arena::page_bytes;
  const auto bytes = static_cast<std::int64_t>(place_.stripes->longest_bytes() - page);
  writer::OutputFiles::Setup& files = blocks.writer.files;
  files.stripe_memory = place_.stripes;
  files.stripes = {.file = blocks.key,
                   .bytes = bytes,
                   .run_bytes = std::min(writing::Stripes::long_run_bytes(bytes),
                                         static_cast<std::int64_t>(files.disk.direct_from_bytes)),
                   .longest_seconds = std::numeric_limits<double>::infinity(),
                   .swaps_bytes = files.format->traits().swaps_bytes(),
                   .crew = link_.crew()};
}

void LocalOpener::write_by_kernel(const OpenedFile& opened, Terms& terms) {
  put_together(opened.settings, terms.blocks);
  const writer::OutputFiles::Setup& files = terms.blocks.writer.files;
  terms.council.lead.fills_gaps =
      files.stripe_memory != nullptr && files.disk.are_writers_on_one_node;
  terms.council.lead.writers = commit::Lead::Writers::members;
  terms.blocks.writer.files.submit = disk_.submitter();
  terms.blocks.writer.files.disk.request_bytes = disk_.request_bytes();
  terms.blocks.disk = &disk_;
  terms.blocks.write_block = [&blocks = disk_.blocks()](const Block& block, const auto& piece,
                                                        writing::FileWriter& writer, bool joins) {
    const auto given = blocks.write(block, piece, writer, joins);
    if (block.bytes() > may_wait_bytes) {
      writer.submit();
    }
    return given;
  };
}

// The lead tells of a folder that cannot be opened.
std::int64_t LocalOpener::domain_bytes(const OpenedFile& opened) const {
  std::vector<std::int64_t> bytes{opened.settings.alignment_bytes};
  (void)outcome_of([&] {
    bytes[0] =
        formats::domain_bytes_in(OpenFolder{opened.folder.path}, opened.settings.alignment_bytes);
  });
  mpi::maximum(opened.comm, bytes, link_.policy(), "the other ranks to open a file");
  return bytes[0];
}

void LocalOpener::write_waiting(OpenedFile& opened, Terms& terms) {
  const config::FileSettings& file = opened.settings;
  const std::string what = "the other ranks to open file \"" + opened.file->name() + '"';
  terms.council.lead.writers = commit::Lead::Writers::waiting_members;
  // The writes and the code are those of an engine, but the call waits.
  writer::OutputFiles::Setup& files = terms.blocks.writer.files;
  files.submit = [&counters = link_.counters()](const disk::Plan& plan, const auto& done) {
    const auto completion = disk::carry_out(plan);
    if (plan.sync) {
      counters.add(trace::Counter::sync_seconds, completion.seconds);
    }
    done(completion);
  };
  files.options.wait = link_.policy();
  files.options.wait.meanwhile = {};  // the library may be in the middle of a call
  MPI_Comm openers = opened.comm;
  Exchange::Setup exchange{.comm = opened.comm,
                           .aggregators = {},
                           .stripe_bytes = settings_.bytes("test.stripe"),
                           .crew = link_.crew(),
                           .alignment_bytes = domain_bytes(opened),
                           .may_overlap = file.may_overlap,
                           .policy = link_.policy()};
  const formats::Traits& traits = opened.format->traits();
  if (file.aggregators_per_node != 0) {
    auto ordered = formats::openers(opened.comm, file.aggregator_order, file.aggregators_per_node,
                                    link_.policy(), what.c_str());
    const auto aggregates =
        mpi::gather_to_all(opened.comm, ordered.aggregates ? 1 : 0, link_.policy(), what.c_str());
    for (std::size_t rank = 0; rank < aggregates.size(); ++rank) {
      if (aggregates[rank] != 0) {
        exchange.aggregators.push_back(static_cast<int>(rank));
      }
    }
    if (!traits.is_plain()) {
      files.options.aggregators = ordered.aggregators;
      opened.openers = openers = ordered.comm.release();
    }
  }
  terms.blocks.writer.create = creator(*opened.format, openers);
  if (exchange.stripe_bytes > 0 && !traits.writes_whole_steps()) {
    terms.blocks.exchange = std::make_unique<Exchange>(std::move(exchange));
  }
}

// A thread of each rank writes a step together with those of the others, through a communicator of
// its own. It waits as long as they compute. Calls that wait for it have the deadline.
void LocalOpener::write_beside(OpenedFile& opened, Terms& terms) {
  const std::string what = "the other ranks to open file \"" + opened.file->name() + '"';
  opened.openers = mpi::duplicate(opened.comm, link_.policy(), what.c_str()).release();
  terms.council.lead.writers = commit::Lead::Writers::members;
  terms.blocks.given_up = std::make_shared<std::atomic<bool>>(false);
  writer::OutputFiles::Setup& files = terms.blocks.writer.files;
  files.submit = disk_.submitter();
  files.options.wait = mpi::WaitPolicy{0};
  files.options.wait.meanwhile = [given_up = terms.blocks.given_up] {
    if (*given_up) {
      throw Error{ErrorCode::storage_failure, "the file was given up"};
    }
  };
  terms.blocks.writer.create = creator(*opened.format, opened.openers);
  terms.blocks.write_block = [](const Block& block, const auto& piece, writing::FileWriter& writer,
                                bool /*joins*/) {
    return BlockWriter::write_packed(block, piece, writer, 0, array::elements(block.region));
  };
}

void LocalOpener::open(OpenedFile& opened, MPI_Comm comm, bool synchronous) {
  Meeting& meeting = meet_to_open(opened, comm);
  Terms terms = this->terms(opened);
  // Not so in `go_on_after`: the lead may open a file that others have written by then.
  terms.blocks.writer.lead_syncs = commit::lead_syncs(
      opened.format->traits(), terms.blocks.writer.files.disk, opened.settings.file_per_step);
  terms.council.peers = {.comm = opened.comm, .ranks = {}, .tag = council_tag};
  if (synchronous) {
    write_waiting(opened, terms);
  } else if (opened.format->traits().writes_whole_steps()) {
    write_beside(opened, terms);
  } else {
    write_by_kernel(opened, terms);
    if (opened.settings.when_full == config::WhenFull::spill) {
      const Outcome mine =
          outcome_of([&] { terms.blocks.writer.files.spill = &disk_.spill(settings_); });
      const Outcome common =
          mpi::agree(opened.comm, mine, link_.policy(), "the other ranks to open a file");
      if (!common.ok()) {
        opened.free_communicators();
        common.throw_unless_ok();
      }
    }
  }
  const commit::Publication names{terms.council.lead.publisher.identity, *opened.format,
                                  &opened.file->catalogue()};
  auto carrier = std::make_unique<LocalCarrier>(
      LocalCarrier::Setup{.key = opened.file->key(),
                          .name = opened.file->name(),
                          .file_per_step = opened.settings.file_per_step,
                          .steps_in_flight = opened.settings.steps_in_flight,
                          .comm = opened.comm,
                          .folder = opened.folder,
                          .meeting = synchronous ? &meeting : nullptr},
      std::move(terms.council), std::move(terms.blocks), names, link_, opened.file->catalogue());
  LocalCarrier& opening = *carrier;
  opened.file->carry_with(std::move(carrier));
  try {
    opened.file->begin_at(opening.open());
  } catch (...) {
    if (opening.is_over()) {
      opened.free_communicators();  // all ranks come here, because the failure is the same on all
    }
    throw;
  }
  opened.local = &opening;
}

std::unique_ptr<LocalCarrier> LocalOpener::go_on_after(const OpenedFile& opened,
                                                       const commit::Left& left) {
  Terms terms = this->terms(opened);
  terms.council.peers = {
      .comm = place_.comm, .ranks = opened.members, .tag = tag_of(opened.file->key(), place_.comm)};
  write_by_kernel(opened, terms);
  if (opened.settings.when_full == config::WhenFull::spill) {
    const Outcome made =
        outcome_of([&] { terms.blocks.writer.files.spill = &disk_.spill(settings_); });
    if (!made.ok()) {
      log::warning(made.story + "; puts wait when memory is full");
    }
  }
  const commit::Publication names{terms.council.lead.publisher.identity, *opened.format,
                                  &opened.file->catalogue()};
  if (!has_bug(Bug::beginning_forgotten)) {
    terms.council.lead.open.beginning = opened.remote->beginning();
  }
  terms.council.lead.first_step = left.settled;
  terms.council.lead.committed = left.committed();
  return std::make_unique<LocalCarrier>(
      LocalCarrier::Setup{.key = opened.file->key(),
                          .name = opened.file->name(),
                          .file_per_step = opened.settings.file_per_step,
                          .steps_in_flight = opened.settings.steps_in_flight},
      std::move(terms.council), std::move(terms.blocks), names, link_, opened.file->catalogue());
}

}  // namespace iocomp::client
