// SPDX-License-Identifier: BSD-3-Clause
#include "excuses.h"

#include <algorithm>
#include <string_view>

#include "job.h"

namespace simulation {
namespace {

using iocomp::ErrorCode;

/// A very slow disk: one rank may write alone for longer than others wait for it.
bool is_very_slow(const Plan& plan) { return plan.faults.disk_slowness > 100; }

/// The ranks write it themselves when its servers are lost.
bool is_carried_on(const PlannedFile& file) {
  return file.backend == "posix" && (!file.goes_on || has_file_per_step(file));
}

bool any_file(const Plan& plan, bool (*is_so)(const PlannedFile&)) {
  return std::ranges::any_of(plan.files, is_so);
}

/// True if the programs or the settings cause the failure, without any fault from outside.
bool is_asked_for(const Plan& plan, ErrorCode code) {
  if (any_file(plan, has_mistake)) {
    return true;
  }
  switch (code) {
    case ErrorCode::out_of_staging_memory:
      return any_file(
          plan, [](const PlannedFile& file) { return file.fails_when_full || file.is_compressed; });
    case ErrorCode::target_exists:
      return any_file(plan,
                      [](const PlannedFile& file) { return file.exists_before && !file.replaces; });
    default:
      return false;
  }
}

bool has_fault(const PlannedFaults& faults) {
  return faults.disk.capacity_bytes || faults.disk.failing_write || faults.disk.failing_sync ||
         faults.folder_goes || faults.stopped_process || faults.killed_server;
}

}  // namespace

bool may_fail(const Plan& plan, ErrorCode code, bool can_go_on) {
  const PlannedFaults& faults = plan.faults;
  const bool is_wrong = is_asked_for(plan, code);
  if (plan.finds_damage && code != ErrorCode::internal && code != ErrorCode::timed_out) {
    return true;
  }
  if (code == ErrorCode::internal || (!is_wrong && !has_fault(faults))) {
    return false;
  }
  // A server that is lost or stopped is found: nobody waits for it until the deadline.
  const bool is_rank_stopped =
      faults.stopped_process && (*faults.stopped_process < plan.ranks || !can_go_on);
  return code != ErrorCode::timed_out || is_wrong || is_rank_stopped || faults.folder_goes ||
         is_very_slow(plan) || faults.disk != Disk::Faults{};
}

// A rank that has lost its server does not know what that had committed, unless it carries the file
// on; nor does one that cannot fsync what the server had renamed.
bool is_in_doubt(const Plan& plan, const PlannedFile& file) {
  return (plan.faults.killed_server || plan.faults.stopped_process) &&
         (!is_carried_on(file) || plan.faults.disk.failing_sync || plan.faults.folder_goes);
}

bool tells_each_step(const Plan& plan, const PlannedFile& file) {
  const bool may_lose_servers = plan.faults.killed_server || plan.faults.stopped_process;
  return !has_mistake(file) && (!may_lose_servers || !is_in_doubt(plan, file));
}

// If a rank is told only after a put where the block goes, and nothing that it has copied can be
// written before, it copies the block beyond the bound: to wait would be for ever. What such copies
// are written from is one more copy, of a quarter of the bound or a run. Runs go through the page
// cache, each as a whole, where they are shorter than what goes past it, or may overlap.
std::size_t most_copied_bytes(const Plan& plan, int rank) {
  const auto limit = static_cast<std::size_t>(plan.buffer_bytes);
  std::size_t kept = 0;
  std::size_t run = usual_disk_options().direct_from_bytes;
  for (const auto& file : plan.files) {
    const bool may_lose_servers = plan.faults.killed_server || plan.faults.stopped_process;
    const bool is_by_servers =
        plan.mode == Mode::servers && !file.is_synchronous && !may_lose_servers;
    // Blocks of calls that wait may be kept until all ranks exchange theirs.
    const bool knows_places =
        (file.backend == "posix" && !is_written_together(plan, file)) || is_by_servers;
    kept += file.has_times && !knows_places ? file.steps.size() * sizeof(double) : 0;
    for (const auto& step : file.steps) {
      for (std::size_t v = 0; v < step.variables.size() && !knows_places; ++v) {
        for (const Put& put : step.variables[v].puts) {
          const bool is_kept = put.is_buffered || put.await == Await::handed_over;
          const bool is_twice = file.mistake == Mistake::overlap && file.mistaken_rank == rank;
          if (put.rank == rank) {
            run = std::max(run, file.may_overlap ? bytes_of(file, v, put) : 0);
            kept += (is_kept ? 1U : 0U) * bytes_of(file, v, put);
            kept += (is_twice ? 1U : 0U) * bytes_of(file, v, put);
          }
        }
      }
    }
  }
  const std::size_t one_more = std::max(limit / 4, run);
  // A copy lies in its page as in the file.
  constexpr std::size_t skew = 4096;
  return kept == 0 ? limit : std::max(limit, kept) + one_more + skew;
}

bool is_durable_with_step(const Plan& plan, const PlannedFile& file, const iocomp::Error& error) {
  return plan.nodes > 1 && is_written_together(plan, file) &&
         error.code() == ErrorCode::invalid_argument &&
         std::string_view{error.what()}.find("call iocomp_wait_step") != std::string_view::npos;
}

}  // namespace simulation
