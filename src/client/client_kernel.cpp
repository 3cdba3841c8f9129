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
#include "config/file_settings.h"
#include "mpi/agree.h"
#include "mpi/wait.h"
#include "storage/format.h"

namespace iocomp::client {

// Offsets must be known to ranks that do not write through the format library.
bool Client::kernel_can_write(const storage::Format& format, const config::FileSettings& file) {
  const bool is_plain = format.offsets_by_layout() || format.access([&] {
    storage::FormatOptions options;
    options.library_path = !file.raw;
    return options;
  }()) == storage::Access::plain_file;
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
                         const std::vector<int>& members, const storage::Format& format) {
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
  setup.options = {
      .library_path = false, .alignment_bytes = file.alignment_bytes, .hints = file.hints};
  setup.disk = disk_;
  setup.steps_in_flight = file.steps_in_flight;
  auto carrier = std::make_unique<KernelCarrier>(std::move(setup), identity(opened, file), *kernel_,
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

bool Client::advance_kernel() {
  bool moved = kernel_->advance();
  // Inside of that somebody may wait for memory, and so come here again.
  if (!is_advancing_) {
    is_advancing_ = true;
    const Outcome outcome = outcome_of([&] {
      for (auto& [key, opened] : files_) {
        moved = (opened.kernel != nullptr && opened.kernel->advance()) || moved;
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
