// How files are opened: with servers, by the kernel, or synchronously.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/client.h"
#include "client/direct_carrier.h"
#include "client/direct_output.h"
#include "client/file.h"
#include "client/remote_carrier.h"
#include "config/file_settings.h"
#include "formats/aggregators.h"
#include "formats/file_system.h"
#include "formats/format.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "protocol/messages.h"

namespace iocomp::client {
namespace {

// A block that costs less to copy than to ask for: the copy is written in place, and the program
// has its memory back at once.
constexpr std::size_t small_block_bytes = std::size_t{64} << 10;

}  // namespace

formats::FormatOptions Client::format_options(const config::FileSettings& file) {
  return {.alignment_bytes = file.alignment_bytes,
          .hints = file.hints,
          .engine = file.engine,
          .engine_parameters = file.engine_parameters,
          .grows_along_time = file.grows_along_time,
          .chunk_bytes = file.chunk_bytes,
          .deflate_level = file.deflate_level,
          .shuffle = file.shuffle,
          .one_step = file.file_per_step};
}

void Client::open_without_servers(Opened& opened, const config::FileSettings& file, MPI_Comm group,
                                  const std::vector<int>& ranks, const formats::Format& format) {
  if (plans_ && !file.synchronous && kernel_can_write(format, file)) {
    open_kernel(opened, file, group, ranks, format);
    if (format.offsets_by_layout()) {  // else a rank's blocks may wait for another rank
      watch(*opened.file, file);
    }
  } else {
    open_direct(opened, file, group, ranks, format);
  }
}

void Client::watch(File& file, const config::FileSettings& settings) {
  if (settings.guarded) {
    file.watch_with(Guard{place_.core_share});
  }
}

disk::Options Client::disk_options(const config::FileSettings& file) const {
  return file.may_overlap ? disk::without_direct(disk_) : disk_;
}

void Client::open_remote(Opened& opened, const config::FileSettings& file,
                         const std::vector<int>& members) {
  RemoteCarrier::Route route;
  route.key = opened.file->key();
  route.name = opened.file->name();
  route.compute_rank = place_.rank;
  route.home = home();
  route.chunk_bytes = place_.chunk_bytes;
  // Like any other data, what travels inside a header needs staging memory where it arrives.
  route.copies.inline_bytes =
      std::min(static_cast<std::size_t>(settings_.bytes("expert.inline")), place_.chunk_bytes);
  const auto way = settings_.text("transport.way");
  const bool shares = link_.shares_memory();
  route.copies.copy_bytes = way == "staged"           ? std::numeric_limits<std::size_t>::max()
                            : way != "pull" && shares ? small_block_bytes
                                                      : 0;
  route.copies.pulls = way == "pull";
  route.steps_in_flight = file.steps_in_flight;
  route.whole_steps = opened.format->writes_whole_steps();
  route.keeps_remains = link_.server_side().leave_notes() && opened.format->offsets_by_layout() &&
                        opened.format->access(format_options(file)) == formats::Access::plain_file;
  protocol::Open open;
  open.name = route.name;
  open.kind = file.checkpoint ? 2 : 1;
  open.opener = place_.rank;
  open.members = static_cast<std::int64_t>(members.size());
  open.home_members = std::ranges::count_if(
      members, [this](int rank) { return std::ranges::binary_search(place_.neighbours, rank); });
  auto carrier = std::make_unique<RemoteCarrier>(std::move(route), link_, opened.file->catalogue());
  RemoteCarrier& opening = *carrier;
  opened.remote = &opening;
  opened.file->carry_with(std::move(carrier));
  opened.file->when_servers_are_lost([this] { go_on_without_servers(); });
  opening.open(open);
}

commit::Publication::Identity Client::identity(const Opened& opened,
                                               const config::FileSettings& file) const {
  return {.name = opened.file->name(),
          .path = file.path,
          .job = place_.job,
          .checkpoint = file.checkpoint,
          .file_per_step = file.file_per_step,
          .replace = file.replace,
          .keep = file.keep,
          .xdmf = file.xdmf};
}

Meeting& Client::meet_to_open(Opened& opened, const config::FileSettings& file, MPI_Comm comm,
                              const std::vector<int>& members) {
  Meeting::Call call;
  call.name = file.checkpoint ? "open of a checkpoint" : "open of a series";
  call.file = opened.file->key();
  call.file_name = opened.file->name();
  const std::string what = "the other ranks to open file \"" + call.file_name + '"';
  int alike = MPI_UNEQUAL;
  mpi::check(MPI_Comm_compare(comm, place_.comm, &alike));
  const bool are_all = alike == MPI_IDENT || alike == MPI_CONGRUENT;
  if (are_all) {
    (void)meeting_.meet(call);
  }
  // Nobody frees it before all have closed the file.
  opened.comm = mpi::duplicate(comm, link_.policy(), what.c_str()).release();
  if (are_all) {
    return meeting_;
  }
  opened.meeting = std::make_unique<Meeting>(opened.comm, members, link_.policy());
  (void)opened.meeting->meet(call);
  return *opened.meeting;
}

void Client::put_openers_in_order(Opened& opened, const config::FileSettings& file,
                                  DirectOutput::Setup& setup) const {
  setup.openers = opened.comm;
  if (file.aggregators_per_node == 0) {
    return;
  }
  const std::string what = "the other ranks to open file \"" + opened.file->name() + '"';
  auto ordered = formats::openers(opened.comm, file.aggregator_order, file.aggregators_per_node,
                                  link_.policy(), what.c_str());
  const auto aggregates =
      mpi::gather_to_all(opened.comm, ordered.aggregates ? 1 : 0, link_.policy(), what.c_str());
  for (std::size_t rank = 0; rank < aggregates.size(); ++rank) {
    if (aggregates[rank] != 0) {
      setup.aggregators.push_back(static_cast<int>(rank));
    }
  }
  if (setup.format->access(setup.options) == formats::Access::mpi_file) {
    setup.options.aggregators = ordered.aggregators;
    opened.openers = setup.openers = ordered.comm.release();
  }
}

void Client::free(Opened& opened) {
  for (MPI_Comm* comm : {&opened.openers, &opened.verdicts, &opened.placing, &opened.comm}) {
    if (*comm != MPI_COMM_NULL) {
      MPI_Comm_free(comm);
    }
  }
}

void Client::open_direct(Opened& opened, const config::FileSettings& file, MPI_Comm comm,
                         const std::vector<int>& members, const formats::Format& format) {
  Meeting& meeting = meet_to_open(opened, file, comm, members);
  DirectOutput::Setup setup;
  setup.comm = opened.comm;
  mpi::check(MPI_Comm_rank(opened.comm, &setup.rank));
  setup.compute_rank = place_.rank;
  setup.format = &format;
  setup.options = format_options(file);
  setup.options.deadline_seconds = link_.policy().deadline_seconds;
  setup.disk = disk_options(file);
  setup.may_overlap = file.may_overlap;
  setup.window_bytes = settings_.bytes("staging.stripe");
  put_openers_in_order(opened, file, setup);
  const auto names = identity(opened, file);
  std::vector<std::int64_t> domain_bytes{formats::domain_bytes_at(
      commit::Publication{names, format}.names(0).target, file.alignment_bytes)};
  mpi::maximum(opened.comm, domain_bytes, link_.policy(), "the other ranks to open a file");
  setup.domain_bytes = domain_bytes[0];
  auto carrier =
      std::make_unique<DirectCarrier>(opened.file->key(), opened.file->name(), std::move(setup),
                                      names, link_, meeting, opened.file->catalogue());
  DirectCarrier& opening = *carrier;
  opened.file->carry_with(std::move(carrier));
  opened.carrier = &opening;
  try {
    opening.open();
  } catch (...) {
    if (opening.lost().ok()) {
      free(opened);  // the failure is the same on all ranks: they all come here
    }
    throw;
  }
}

}  // namespace iocomp::client
