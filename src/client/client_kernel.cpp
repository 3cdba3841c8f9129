#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "client/client.h"
#include "client/file.h"
#include "client/kernel_carrier.h"
#include "client/kernel_writer.h"
#include "client/own_writes.h"
#include "client/remote_carrier.h"
#include "config/file_settings.h"
#include "formats/format.h"
#include "mpi/agree.h"
#include "mpi/wait.h"

namespace iocomp::client {

// Offsets must be known to ranks that do not write through the format library.
bool Client::kernel_can_write(const formats::Format& format, const config::FileSettings& file) {
  const bool is_plain = format.offsets_by_layout() || format.access([&] {
    formats::FormatOptions options;
    options.library_path = !file.raw;
    return options;
  }()) == formats::Access::plain_file;
  if (!is_plain) {
    log::warning("transport kernel: files of " + std::string{format.name()} +
                 (file.raw ? "" : " with raw = false") +
                 " are written by the format library, so synchronously");
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
  setup.options.library_path = false;
  setup.disk = disk_;
  setup.steps_in_flight = file.steps_in_flight;
  auto carrier = std::make_unique<KernelCarrier>(std::move(setup), identity(opened, file), *kernel_,
                                                 link_, opened.file->catalogue());
  KernelCarrier& opening = *carrier;
  carry(opened, file, opened.comm, std::move(carrier));
  try {
    opening.open();
  } catch (...) {
    free(opened);  // the failure is the same on all ranks: they all come here
    throw;
  }
  opened.kernel = &opening;
}

void Client::start_kernel() {
  kernel_ = std::make_unique<KernelWriter>(disk_, link_.copies(), link_);
  link_.move_with([this] { return advance_kernel(); },
                  [this](auto longest, const auto& word) { kernel_->sleep(longest, word); });
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
  auto output = std::make_shared<disk::OutputFile>(names.names(-1).temporary, disk_);
  if (!kernel_) {
    start_kernel();
  }
  opened.remote->write_with(std::make_unique<OwnWrites>(
      OwnWrites::Setup{opened.file->key(), opened.file->name(), home(), place_.rank,
                       static_cast<std::size_t>(settings_.bytes("transport.kernel_from")),
                       std::move(output)},
      *kernel_, link_, opened.file->catalogue()));
}

bool Client::advance_kernel() {
  bool moved = kernel_->advance();
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
