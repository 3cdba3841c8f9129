#include "client/local_opener.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "client/direct_carrier.h"
#include "client/direct_output.h"
#include "client/group_ranks.h"
#include "client/kernel_carrier.h"
#include "commit/file_terms.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "formats/aggregators.h"
#include "formats/file_system.h"
#include "formats/format.h"
#include "mpi/agree.h"
#include "mpi/error.h"

namespace iocomp::client {

// Ranks must be able to write at offsets, without the format library or the MPI.
bool LocalOpener::kernel_can_write(const OpenedFile& opened) const {
  const formats::Format& format = *opened.format;
  const bool is_plain =
      format.access(commit::format_options(opened.settings)) == formats::Access::plain_file;
  if (!is_plain) {
    const bool by_mpi = format.offsets_by_layout();
    log::warning("transport kernel: files of " + std::string{format.name()} + " are written by " +
                 (by_mpi ? "MPI-IO" : "the format library") + ", so synchronously" +
                 (by_mpi ? "; posix writes the same bytes by the kernel" : ""));
  }
  return is_plain;
}

Meeting& LocalOpener::meet_to_open(OpenedFile& opened, MPI_Comm comm) {
  Meeting::Call call;
  call.name = opened.settings.checkpoint ? "open of a checkpoint" : "open of a series";
  call.file = opened.file->key();
  call.file_name = opened.file->name();
  const std::string what = "the other ranks to open file \"" + call.file_name + '"';
  const bool are_all = have_same_ranks(comm, place_.comm);
  if (are_all) {
    (void)meeting_.meet(call);
  }
  // Nobody frees it before all have closed the file.
  opened.comm = mpi::duplicate(comm, link_.policy(), what.c_str()).release();
  if (are_all) {
    return meeting_;
  }
  opened.meeting = std::make_unique<Meeting>(opened.comm, opened.members, link_.policy());
  (void)opened.meeting->meet(call);
  return *opened.meeting;
}

void LocalOpener::open_kernel(OpenedFile& opened, MPI_Comm comm) {
  const config::FileSettings& file = opened.settings;
  (void)meet_to_open(opened, comm);
  for (MPI_Comm* own : {&opened.placing, &opened.verdicts}) {
    *own = mpi::duplicate(opened.comm, link_.policy(), "the other ranks to open a file").release();
  }
  KernelCarrier::Setup setup;
  setup.key = opened.file->key();
  setup.name = opened.file->name();
  setup.circle = opened.comm;
  setup.placing = opened.placing;
  setup.verdicts = opened.verdicts;
  setup.members = opened.members;
  setup.format = opened.format;
  setup.options = commit::format_options(file);
  setup.disk = disk_.options_for(file);
  setup.submit = disk_.plans().submitter();
  setup.may_overlap = file.may_overlap;
  setup.steps_in_flight = file.steps_in_flight;
  auto carrier = std::make_unique<KernelCarrier>(
      std::move(setup), commit::identity(opened.file->name(), file, place_.job), disk_.blocks(),
      link_, opened.file->catalogue());
  KernelCarrier& opening = *carrier;
  opened.file->carry_with(std::move(carrier));
  try {
    opening.open();
  } catch (...) {
    opened.free_communicators();  // the failure is the same on all ranks: they all come here
    throw;
  }
  opened.kernel = &opening;
}

void LocalOpener::put_openers_in_order(OpenedFile& opened, DirectOutput::Setup& setup) const {
  const config::FileSettings& file = opened.settings;
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

void LocalOpener::open_direct(OpenedFile& opened, MPI_Comm comm) {
  const config::FileSettings& file = opened.settings;
  Meeting& meeting = meet_to_open(opened, comm);
  DirectOutput::Setup setup;
  setup.comm = opened.comm;
  mpi::check(MPI_Comm_rank(opened.comm, &setup.rank));
  setup.compute_rank = place_.rank;
  setup.format = opened.format;
  setup.options = commit::format_options(file);
  setup.options.deadline_seconds = link_.policy().deadline_seconds;
  setup.disk = disk_.options_for(file);
  setup.may_overlap = file.may_overlap;
  setup.window_bytes = settings_.bytes("staging.stripe");
  put_openers_in_order(opened, setup);
  const auto names = commit::identity(opened.file->name(), file, place_.job);
  std::vector<std::int64_t> domain_bytes{formats::domain_bytes_at(
      commit::Publication{names, *opened.format}.names(0).target, file.alignment_bytes)};
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
      opened.free_communicators();  // the failure is the same on all ranks: they all come here
    }
    throw;
  }
}

}  // namespace iocomp::client
