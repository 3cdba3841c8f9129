#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "client/client.h"
#include "client/disk_plans.h"
#include "client/file.h"
#include "client/kernel_carrier.h"
#include "client/own_writes.h"
#include "client/remote_carrier.h"
#include "config/file_settings.h"
#include "formats/format.h"
#include "mpi/agree.h"
#include "mpi/wait.h"

namespace iocomp::client {

// Ranks must be able to write at offsets, without the format library or the MPI.
bool Client::kernel_can_write(const formats::Format& format, const config::FileSettings& file) {
  const bool is_plain = format.access(format_options(file)) == formats::Access::plain_file;
  if (!is_plain) {
    const bool by_mpi = format.offsets_by_layout();
    log::warning("transport kernel: files of " + std::string{format.name()} + " are written by " +
                 (by_mpi ? "MPI-IO" : "the format library") + ", so synchronously" +
                 (by_mpi ? "; posix writes the same bytes by the kernel" : ""));
  }
  return is_plain;
}

// Ranks that wait for one another on behalf of one file must not keep them waiting on behalf of
// another.
mpi::WaitPolicy Client::policy_with_kernel(mpi::WaitPolicy policy) {
  if (place_.has_kernel) {
    policy.meanwhile = [this] { link_.pump(); };
  }
  return policy;
}

void Client::open_kernel(Opened& opened, const config::FileSettings& file, MPI_Comm comm,
                         const std::vector<int>& members, const formats::Format& format) {
  (void)meet_to_open(opened, file, comm, members);
  for (MPI_Comm* own : {&opened.placing, &opened.verdicts}) {
    *own = mpi::duplicate(opened.comm, link_.policy(), "the other ranks to open a file").release();
  }
  KernelCarrier::Setup setup;
  setup.key = opened.file->key();
  setup.name = opened.file->name();
  setup.circle = opened.comm;
  setup.placing = opened.placing;
  setup.verdicts = opened.verdicts;
  setup.members = members;
  setup.format = &format;
  setup.options = format_options(file);
  setup.disk = disk_options(file);
  setup.submit = plans_->submitter();
  setup.may_overlap = file.may_overlap;
  setup.steps_in_flight = file.steps_in_flight;
  auto carrier = std::make_unique<KernelCarrier>(std::move(setup), identity(opened, file), *blocks_,
                                                 link_, opened.file->catalogue());
  KernelCarrier& opening = *carrier;
  opened.file->carry_with(std::move(carrier));
  try {
    opening.open();
  } catch (...) {
    free(opened);  // the failure is the same on all ranks: they all come here
    throw;
  }
  opened.kernel = &opening;
}

void Client::start_kernel() {
  plans_ = std::make_unique<DiskPlans>(disk_, link_.counters());
  blocks_ = std::make_unique<BlockWriter>(disk_, link_);
  link_.move_with([this] { return advance_kernel(); },
                  [this](auto longest, const auto& word) { plans_->sleep(longest, word); });
}

// Of the formats whose offsets every rank knows, files that this rank can hold open from before
// their first commit.
void Client::offer_kernel(Opened& opened, const config::FileSettings& file,
                          const formats::Format& format) {
  const std::string name = "file \"" + opened.file->name() + "\": by servers, ";
  if (!format.offsets_by_layout() ||
      format.access(format_options(file)) != formats::Access::plain_file) {
    link_.explain(name + std::string{format.name()} + " lays its variables out itself");
    return;
  }
  if (file.file_per_step) {
    link_.explain(name + "each step is a file of its own");
    return;
  }
  const commit::Publication names{identity(opened, file), format};
  if (!plans_) {
    start_kernel();
  }
  auto writer = std::make_unique<writing::FileWriter>(
      writing::FileWriter::Setup{.path = names.names(-1).temporary,
                                 .opening = disk::OutputFile::Opening::finds,
                                 .disk = disk_options(file),
                                 .submit = plans_->submitter(),
                                 .counters = &link_.counters()});
  // Before the first commit gives the file its final name. Where it cannot be found, the servers
  // write, and say what is wrong.
  if (!outcome_of([&] { (void)writer->file().open(); }).ok()) {
    return;
  }
  opened.remote->write_with(std::make_unique<OwnWrites>(
      OwnWrites::Setup{opened.file->key(), opened.file->name(), home(), place_.rank,
                       static_cast<std::size_t>(settings_.bytes("transport.kernel_from")),
                       std::move(writer)},
      *blocks_, link_, opened.file->catalogue()));
}

bool Client::advance_kernel() {
  bool moved = plans_->advance();
  // Inside of that somebody may wait for memory, and so come here again.
  if (!is_advancing_) {
    is_advancing_ = true;
    const Outcome outcome = outcome_of([&] {
      for (auto& [key, opened] : files_) {
        moved = (opened.kernel != nullptr && opened.kernel->advance()) || moved;
        moved = (opened.remote != nullptr && opened.remote->advance()) || moved;
      }
    });
    is_advancing_ = false;
    if (!outcome.ok()) {
      throw Error{outcome.code, outcome.story};
    }
  }
  return moved;
}

}  // namespace iocomp::client
