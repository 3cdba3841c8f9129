// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/output.h"

#include <fcntl.h>
#include <mpi.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "mpi/agree.h"
#include "mpi/wait.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::hdf5 {
namespace {

bool touches(const std::map<std::int64_t, std::int64_t>& ranges, std::int64_t begin,
             std::int64_t end) {
  const auto after = ranges.lower_bound(end);
  return after != ranges.begin() && std::prev(after)->second > begin;
}

}  // namespace

Output::Output(const std::string& path, bool is_new, const disk::Options& options,
               trace::Counters& counters)
    : Output{Path{path}, path, is_new, options, counters} {}

Output::Output(const Path& place, const std::string& path, bool is_new,
               const disk::Options& options, trace::Counters& counters)
    : name_{place.name()},
      folder_{is_new ? place.shared_folder() : nullptr},
      counters_{counters},
      file_{std::make_shared<disk::OutputFile>(
          place.folder().open(name_, O_RDWR, OpenFolder::Links::followed), path, options)} {}

MPI_Comm Output::ranks() const noexcept {
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  return has_ended != 0 ? MPI_COMM_NULL : ranks_.raw();
}

void Output::meet(const mpi::WaitPolicy& policy, const char* what) const {
  if (ranks() != MPI_COMM_NULL) {
    const trace::Span span{
        counters_.timeline(), trace::What::wait, {.file = name(), .text = "all ranks of the file"}};
    mpi::gate(ranks(), policy, what);
  }
}

void Output::begin(std::uint64_t plan, std::span<const disk::Write> writes) {
  auto& ranges = plans_[plan];
  for (const disk::Write& write : writes) {
    ranges.emplace_hint(ranges.end(), write.offset, write.offset + std::ssize(write.bytes));
  }
}

void Output::end(std::uint64_t plan, const Outcome& outcome) {
  plans_.erase(plan);
  note(outcome);
}

void Output::note(const Outcome& outcome) {
  if (failure_.ok()) {
    failure_ = outcome;
  }
}

bool Output::overlaps(std::span<const disk::Write> writes) const {
  for (const auto& [plan, ranges] : plans_) {
    if (!touches(ranges, writes.front().offset,
                 writes.back().offset + std::ssize(writes.back().bytes))) {
      continue;
    }
    for (const disk::Write& write : writes) {
      if (touches(ranges, write.offset, write.offset + std::ssize(write.bytes))) {
        return true;
      }
    }
  }
  return false;
}

// A file that the program has removed while it is open is a scratch file: HDF5 closes it without a
// complaint.
void Output::sync() {
  if (file_->is_removed()) {
    return;
  }
  const trace::Timer timer{
      counters_, trace::Counter::sync_seconds, trace::What::sync, {.file = name()}};
  const Outcome synced = outcome_of([this] {
    file_->sync();
    if (folder_) {
      folder_->sync();
      folder_ = nullptr;
    }
  });
  if (failure_.ok() && !synced.ok()) {
    log::error(synced.story);
  }
  note(synced);
}

void Output::count_bytes() {
  const std::uint64_t direct = file_->direct_bytes();
  const std::uint64_t buffered = file_->buffered_bytes();
  counters_.add(trace::Counter::direct_bytes, static_cast<double>(direct - counted_direct_));
  counters_.add(trace::Counter::buffered_bytes, static_cast<double>(buffered - counted_buffered_));
  counted_direct_ = direct;
  counted_buffered_ = buffered;
}

}  // namespace iocomp::hdf5
