// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/connector.h"

#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "config/log_level.h"
#include "config/settings.h"
#include "hdf5/dataset.h"
#include "hdf5/layout.h"
#include "hdf5/native.h"
#include "hdf5/output.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::hdf5 {
namespace {

config::Settings read_settings() {
  auto settings = config::Settings::read({});
  settings.resolve_paths();
  log::configure(config::log_level(settings), "process " + std::to_string(::getpid()));
  for (const std::string& warning : settings.warnings()) {
    log::warning(warning);
  }
  return settings;
}

// Bytes at offsets of one file, and nothing of it kept in memory.
bool has_known_driver(hid_t access_list) {
  const hid_t driver = H5Pget_driver(access_list);
  std::size_t page_buffer_bytes = 0;
  H5Pget_page_buffer_size(access_list, &page_buffer_bytes, nullptr, nullptr);
  return (driver == H5FD_SEC2 || driver == H5FD_MPIO) && page_buffer_bytes == 0;
}

// Shorter runs are put together by HDF5, in collective writes.
constexpr std::int64_t least_run_bytes = std::int64_t{4} << 10;

bool reads_metadata_together(hid_t access_list) {
  hbool_t together = true;
  return H5Pget_all_coll_metadata_ops(access_list, &together) < 0 || together;
}

}  // namespace

Connector::Connector()
    : settings_{read_settings()},
      policy_{settings_.real("wait.deadline")},
      report_{settings_},
      writer_{settings_, report_.counters()} {}

Connector::~Connector() {
  writer_.finish_all();
  report_.end(writer_.engine());
}

mpi::Communicator Connector::ranks_of(hid_t access_list) const {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Info hints = MPI_INFO_NULL;
  if (H5Pget_driver(access_list) != H5FD_MPIO || H5Pget_fapl_mpio(access_list, &copy, &hints) < 0) {
    return {};
  }
  if (hints != MPI_INFO_NULL) {
    MPI_Info_free(&hints);
  }
  mpi::Communicator ranks{copy};
  mpi::check(MPI_Comm_set_errhandler(ranks.raw(), MPI_ERRORS_RETURN));
  return ranks;
}

void Connector::file_opened(void* file, const std::string& name, bool is_new, hid_t access_list) {
  if (!has_known_driver(access_list)) {
    log::info(name + " is left to HDF5: its file driver or page buffer");
    return;
  }
  std::erase_if(by_number_, [](const auto& entry) { return entry.second.expired(); });
  policy_.begin_call();
  mpi::Communicator ranks = ranks_of(access_list);
  std::shared_ptr<Output> output;
  std::weak_ptr<Output>* known = nullptr;
  Outcome outcome = outcome_of([&] {
    const auto number = file == nullptr ? std::nullopt : native::number_of_file(file);
    if (!number) {
      throw Error{ErrorCode::storage_failure, "HDF5 has not opened it"};
    }
    known = &by_number_[*number];
    output = known->lock();
    if (!output && native::open_datasets_of(file) > 0) {
      throw Error{ErrorCode::unsupported, "its datasets were opened before, through a link"};
    }
    if (!output && ranks.raw() != MPI_COMM_NULL && !native::tells_chunks_of(file)) {
      throw Error{ErrorCode::unsupported, "it has a user block, and HDF5 is older than 1.14.4"};
    }
    if (!output && ranks.raw() == MPI_COMM_NULL && native::sieve_bytes_of(file) > 0) {
      throw Error{ErrorCode::unsupported, "it was opened before, through a link with a buffer"};
    }
    if (!output) {
      output = std::make_shared<Output>(name, is_new, writer_.options(), report_.counters());
    }
  });
  if (ranks.raw() != MPI_COMM_NULL) {
    outcome = mpi::agree(ranks.raw(), outcome, policy_, "a file to be opened");
  }
  if (file == nullptr) {
    return;
  }
  if (!outcome.ok()) {
    log::warning(name + " is left to HDF5: " + outcome.story);
    return;
  }
  report_.begin_timeline(ranks.raw(), policy_);
  if (known->expired()) {
    output->chunks = ranks.raw() == MPI_COMM_NULL           ? Chunks::left
                     : reads_metadata_together(access_list) ? Chunks::found_together
                                                            : Chunks::found_alone;
    output->belongs_to(std::move(ranks));
    *known = output;
  }
  ++output->opened;
  files_[file] = std::move(output);
}

void Connector::file_reopened(void* file, void* again) {
  if (const auto found = files_.find(file); found != files_.end()) {
    ++found->second->opened;
    files_[again] = found->second;
  }
}

std::shared_ptr<Output> Connector::find_file(void* file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? nullptr : found->second;
}

Outcome Connector::before_close(Output& output) {
  policy_.begin_call();
  output.sync();
  if (output.is_told_at_close) {
    return {};
  }
  Outcome outcome = output.failure();
  if (output.ranks() != MPI_COMM_NULL) {
    outcome = mpi::agree(output.ranks(), outcome, policy_, "a file to be closed");
  }
  output.is_told_at_close = !outcome.ok();
  return outcome;
}

void Connector::closed(void* file) {
  const auto output = find_file(file);
  files_.erase(file);
  --output->opened;
  output->sync();
  output->count_bytes();
}

void Connector::hand_in(const Output& output) {
  policy_.begin_call();
  report_.hand_in(output.ranks(), policy_);
}

bool Connector::has_files() const {
  return std::ranges::any_of(by_number_, [](const auto& entry) { return !entry.second.expired(); });
}

std::shared_ptr<Output> Connector::file_of(void* object, H5I_type_t type) const {
  if (!has_files()) {
    return nullptr;
  }
  if (type == H5I_FILE) {
    const auto number = native::number_of_file(object);
    return number ? file_numbered(*number) : nullptr;
  }
  const auto identity = native::identity_of(object, type);
  return identity ? file_numbered(identity->file_number) : nullptr;
}

bool Connector::has_no_links(void* object, H5I_type_t type) const {
  const auto identity = has_files() ? native::identity_of(object, type) : std::nullopt;
  return identity && identity->links == 0 && file_numbered(identity->file_number) != nullptr;
}

std::shared_ptr<Output> Connector::file_numbered(unsigned long number) const {
  const auto known = by_number_.find(number);
  return known == by_number_.end() ? nullptr : known->second.lock();
}

Outcome Connector::make_durable(Output& output, bool with_mounted) {
  policy_.begin_call();
  output.sync();
  Outcome outcome = output.failure();
  for (const auto& [number, known] : by_number_) {
    const auto other = known.lock();
    if (with_mounted && output.is_mounted && other && other->is_mounted && other.get() != &output) {
      other->sync();
      outcome = outcome.ok() ? other->failure() : outcome;
    }
  }
  output.meet(policy_, "the flush of a file");
  return outcome;
}

void Connector::meet_after_call(const Output& output) {
  policy_.begin_call();
  output.meet(policy_, "a collective write");
}

Outcome Connector::before_freeing(Output* output) {
  finish_all();
  if (output == nullptr) {
    return {};
  }
  policy_.begin_call();
  output->meet(policy_, "storage to be given back");
  return output->failure();
}

void Connector::leave_datasets_of(const Output& output) {
  for (const auto& [object, dataset] : datasets_) {
    if (&dataset->output() == &output) {
      dataset->leave_to_hdf5();
    }
  }
}

void Connector::forget_places_of(const Output& output) {
  for (const auto& [object, dataset] : datasets_) {
    if (&dataset->output() == &output) {
      dataset->forget_places();
    }
  }
}

void Connector::dataset_opened(void* dataset) {
  const auto identity = has_files() ? native::identity_of(dataset, H5I_DATASET) : std::nullopt;
  auto output = identity ? file_numbered(identity->file_number) : nullptr;
  if (!output || output->is_left) {
    return;
  }
  if (auto known = Dataset::look_at(dataset, identity->token, std::move(output))) {
    datasets_[dataset] = std::move(known);
  }
}

bool Connector::goes_when_closed(void* dataset) const {
  const auto identity = native::identity_of(dataset, H5I_DATASET);
  if (!identity || identity->links != 0) {
    return false;
  }
  const auto output = file_numbered(identity->file_number);
  return std::ranges::count_if(datasets_, [&](const auto& entry) {
           const Dataset& open = *entry.second;
           return &open.output() == output.get() && open.token() == identity->token;
         }) == 1;
}

bool Connector::leaves_short_runs(Dataset& dataset, const Dataset::Request& write) {
  Output& output = dataset.output();
  if (output.ranks() == MPI_COMM_NULL) {
    return false;
  }
  if (const auto known = output.has_short_runs.find(dataset.token());
      known != output.has_short_runs.end()) {
    return known->second;
  }
  Dataset::Runs runs;
  const Outcome outcome =
      outcome_of([&] { runs = dataset.runs_of(write, writer_.largest_copy_bytes()); });
  std::array<std::int64_t, 2> all{static_cast<std::int64_t>(runs.bytes),
                                  static_cast<std::int64_t>(runs.count)};
  policy_.begin_call();
  mpi::sum(output.ranks(), all, policy_, "a collective write");
  const auto [bytes, count] = all;
  if (count == 0) {
    return false;
  }
  const bool are_short = bytes / count < least_run_bytes;
  output.has_short_runs.emplace(dataset.token(), are_short);
  if (are_short) {
    log::info("a dataset of " + output.path() + ": collective writes are left to HDF5, " +
              std::to_string(count) + " runs have " + std::to_string(bytes / count) +
              " bytes on average");
  }
  return are_short;
}

Dataset* Connector::find(void* dataset) const {
  const auto found = datasets_.find(dataset);
  return found == datasets_.end() ? nullptr : found->second.get();
}

// HDF5 is asked nothing while all is well.
Outcome Connector::failure_at(void* object, H5I_type_t type) const {
  for (const auto& [number, known] : by_number_) {
    const auto failed = known.lock();
    if (!failed || failed->failure().ok()) {
      continue;
    }
    const Dataset* const dataset = find(object);
    if (dataset != nullptr ? &dataset->output() == failed.get()
                           : (type == H5I_DATASET && native::is_virtual(object)) ||
                                 file_of(object, type) == failed) {
      return failed->failure();
    }
  }
  return {};
}

Outcome Connector::finish(const Output& output) {
  writer_.finish(output);
  return output.failure();
}

hid_t Connector::independent(hid_t transfer_list) {
  if (transfer_list == H5P_DATASET_XFER_DEFAULT) {
    return transfer_list;
  }
  PropertyList before{transfer_list_};
  transfer_list_ = H5Pcopy(transfer_list);
  H5Pset_dxpl_mpio(transfer_list_, H5FD_MPIO_INDEPENDENT);
  return transfer_list_;
}

}  // namespace iocomp::hdf5
