// SPDX-License-Identifier: BSD-3-Clause
#include "sweep.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan.h"

namespace simulation {
namespace {

constexpr int ranks = 2;
constexpr std::int64_t rows = 4;
constexpr std::int64_t columns = 6;

/// Three steps of a variable, each rank half of its columns; who waits for what differs by step.
PlannedFile small_file(const std::string& name, bool is_checkpoint, const std::string& backend) {
  PlannedFile file{.name = name, .backend = backend, .is_checkpoint = is_checkpoint};
  file.variables.push_back({.name = "v0"});
  for (std::int64_t number = 0; number < 3; ++number) {
    Step step;
    StepOfVariable part{.shape = {rows, columns}};
    for (int rank = 0; rank < ranks; ++rank) {
      part.puts.push_back({.rank = rank,
                           .start = {0, rank * columns / ranks},
                           .count = {rows, columns / ranks},
                           .is_buffered = rank == 0});
    }
    step.variables.push_back(std::move(part));
    step.waits_for.resize(ranks);
    if (number != 1) {
      step.waits_for.assign(ranks, number);
    }
    file.steps.push_back(std::move(step));
  }
  return file;
}

Plan small_job(Mode mode, bool is_checkpoint, const std::string& backend) {
  Plan plan;
  plan.seed = 1;
  plan.ranks = ranks;
  plan.mode = mode;
  plan.servers = mode == Mode::servers ? 1 : 0;
  plan.files.push_back(small_file("f0", is_checkpoint, backend));
  plan.faults.power_losses = 4;
  return plan;
}

std::string name_of(const Plan& plan) {
  static constexpr std::array modes{"synchronous", "kernel", "servers"};
  const PlannedFile& file = plan.files.front();
  return std::string{modes[static_cast<std::size_t>(plan.mode)]} + ", " + file.backend +
         (file.is_checkpoint ? " checkpoint" : " series");
}

using Run = std::function<void(const Plan&, const std::string& fault)>;

/// A variable of 6 GiB before a small one. Little of it is put: at both ends, and about 4 GiB.
PlannedFile vast_file(bool is_checkpoint, const std::string& backend) {
  constexpr std::int64_t bytes = std::int64_t{6} << 30;
  constexpr std::int64_t elements = bytes / std::int64_t{sizeof(double)};
  PlannedFile file = small_file("f0", is_checkpoint, backend);
  file.variables.insert(file.variables.begin(), {.name = "vast"});
  for (auto& step : file.steps) {
    StepOfVariable vast{.shape = {elements}};
    for (const std::int64_t start : {std::int64_t{0}, elements / 3 * 2 - 7, elements - 5}) {
      vast.puts.push_back({.rank = start == 0 ? 0 : 1, .start = {start}, .count = {5}});
    }
    step.variables.insert(step.variables.begin(), std::move(vast));
  }
  return file;
}

/// A server is stopped in a call of the system, also while it looks at what earlier jobs have left.
/// It goes on while the ranks do its work, or when they have done it.
void stop_in_call(Plan plan, int server, std::int64_t call, const Run& run) {
  PlannedFaults faults{.disk_slowness = 100};
  faults.stopped_process = ranks + server;
  faults.stopped_at_call = call;
  const auto stop = [&](Plan& stopped, PlannedFaults& its_faults, Nanoseconds time,
                        const std::string& what) {
    its_faults = faults;
    its_faults.stopped_for = time;
    run(stopped, "server " + std::to_string(server) + " is stopped in call " +
                     std::to_string(call) + " for " + std::to_string(time / millisecond) + " ms, " +
                     what);
  };
  Plan two_jobs = plan;
  two_jobs.faults = {};
  two_jobs.next.push_back(
      {.mode = plan.mode, .servers = plan.servers, .shares_memory = true, .goes_back = 1});
  for (auto& file : two_jobs.files) {
    file.goes_on = true;
  }
  for (auto& file : plan.files) {
    file.exists_before = file.replaces = true;
  }
  for (const Nanoseconds time : {1900 * millisecond, 2300 * millisecond, 9 * second}) {
    stop(plan, plan.faults, time, "what is there is replaced");
    stop(two_jobs, two_jobs.next.front().faults, time, "the second job goes back");
  }
  PlannedFile& of_one = plan.files.front();
  of_one.members = {1};
  for (auto& step : of_one.steps) {
    std::erase_if(step.variables.front().puts, [](const Put& put) { return put.rank == 0; });
  }
  of_one.steps.back().computes = 12 * second / microsecond;
  stop(plan, plan.faults, 3 * second, "a rank opens the second file late");
}

void stop_in_calls(const Plan& plan, const Run& run) {
  constexpr std::array<std::int64_t, 2> most_calls{180, 60};
  for (int server = 0; server < 2; ++server) {
    for (std::int64_t call = 1; call <= most_calls[static_cast<std::size_t>(server)]; ++call) {
      stop_in_call(plan, server, call, run);
    }
  }
}

}  // namespace

void sweep(int one_in, const std::function<void(const Plan&, const std::string&)>& run_one) {
  constexpr std::int64_t most_syncs = 40;
  constexpr std::int64_t most_writes = 60;
  constexpr std::int64_t most_bytes = 16384;
  int number_of_plan = 0;
  const Run run = [&](const Plan& plan, const std::string& fault) {
    if (number_of_plan++ % one_in == 0) {
      run_one(plan, name_of(plan) + ", " + fault);
    }
  };
  // One of two servers, or of the ranks that write, is gone: for ever, or for longer than others
  // wait.
  constexpr Nanoseconds longest_job = 6 * millisecond;
  constexpr Nanoseconds pause = 23 * microsecond;
  const auto with_two_servers = [](bool is_checkpoint, const char* backend) {
    Plan plan = small_job(Mode::servers, is_checkpoint, backend);
    plan.servers = 2;
    plan.shares_memory = true;
    plan.inline_bytes = 0;
    plan.files.push_back(small_file("f1", !is_checkpoint, backend));
    return plan;
  };
  for (const bool is_checkpoint : {false, true}) {
    for (const char* backend : {"posix", "pnetcdf", "hdf5", "netcdf"}) {
      stop_in_calls(with_two_servers(is_checkpoint, backend), run);
    }
    for (const char* backend : {"posix", "hdf5"}) {
      for (const bool pulls : {false, true}) {
        Plan plan = with_two_servers(is_checkpoint, backend);
        plan.way = pulls ? "pull" : "auto";
        if (pulls) {  // rank 0 is in the second file while rank 1 waits for the first one
          plan.files.front().leaves_close_to_finalize = true;
          for (auto& step : plan.files.front().steps) {
            step.waits_for.front().reset();
          }
        }
        for (Nanoseconds at = 0; !pulls && at < longest_job; at += 3 * pause) {
          Plan stopped = plan;
          stopped.nodes = static_cast<int>(at / (3 * pause) % 2) + 1;
          stopped.faults.disk_slowness = 20;  // so that it stands in calls of the system, too
          stopped.faults.stopped_process = ranks + static_cast<int>(at / (6 * pause) % 2);
          stopped.faults.stopped_at = 4 * at;
          stopped.faults.stopped_for = 3 * second;
          run(stopped, "process " + std::to_string(*stopped.faults.stopped_process) + " of " +
                           std::to_string(stopped.nodes) + " nodes is stopped at " +
                           std::to_string(stopped.faults.stopped_at / microsecond) + " us");
        }
        for (Nanoseconds after = 0; after < longest_job; after += pause) {
          plan.faults.killed_server = static_cast<int>(after / pause % 2);
          plan.faults.server_killed_after = after;
          run(plan, "server " + std::to_string(*plan.faults.killed_server) + " dies " +
                        std::to_string(after / microsecond) + " us after all are connected");
        }
      }
    }
    for (Nanoseconds at = 0; at < longest_job; at += pause) {
      Plan plan = small_job(Mode::kernel, is_checkpoint, "posix");
      for (auto& step : plan.files.front().steps) {  // all is the other rank's
        step.variables.front().puts = {
            {.rank = 1, .start = {0, 0}, .count = {rows, columns}, .is_buffered = false}};
      }
      plan.faults.stopped_process = static_cast<int>(at / pause % ranks);
      plan.faults.stopped_at = at;
      plan.faults.stopped_for = 250 * second;
      run(plan, "rank " + std::to_string(*plan.faults.stopped_process) + " is stopped at " +
                    std::to_string(at / microsecond) + " us");
    }
  }
  for (const Mode mode : {Mode::synchronous, Mode::kernel, Mode::servers}) {
    for (const bool is_checkpoint : {false, true}) {
      for (const char* backend : {"posix", "pnetcdf", "hdf5", "netcdf"}) {
        const Plan plain = small_job(mode, is_checkpoint, backend);
        run(plain, "no fault");
        for (std::int64_t number = 1; number <= most_syncs; ++number) {
          Plan plan = plain;
          plan.faults.disk.failing_sync = number;
          run(plan, "fsync " + std::to_string(number) + " fails");
        }
        for (std::int64_t number = 1; number <= most_writes; ++number) {
          for (const std::int64_t count : {1, 2, 1000}) {
            Plan plan = plain;
            plan.faults.disk.failing_write = number;
            plan.faults.disk.failing_writes = count;
            run(plan, "write " + std::to_string(number) + " and " + std::to_string(count - 1) +
                          " more fail");
          }
        }
        for (std::int64_t bytes = 0; bytes <= most_bytes; bytes += 61) {
          Plan plan = plain;
          plan.faults.disk.capacity_bytes = bytes;
          run(plan, "a disk of " + std::to_string(bytes) + " bytes");
        }
      }
    }
  }
  // After a step that failed others follow, and the disk may lose its power whenever it likes.
  for (const char* backend : {"posix", "pnetcdf", "hdf5", "netcdf", "time"}) {
    Plan plan = small_job(Mode::synchronous, false, backend);
    PlannedFile& file = plan.files.front();
    file.grows_along_time = file.backend == "time";
    file.backend = file.grows_along_time ? "hdf5" : file.backend;
    file.steps.insert(file.steps.end(), 2, file.steps.back());
    for (std::size_t step = 0; step < file.steps.size(); ++step) {
      file.steps[step].waits_for.assign(ranks, static_cast<std::int64_t>(step));
    }
    plan.faults.power_losses = 32;
    for (std::int64_t number = 1; number <= 2 * most_writes; ++number) {
      for (const std::int64_t count : {1, 2, 3, 4}) {
        plan.seed = static_cast<std::uint64_t>(number * 8 + count);
        plan.faults.disk.failing_write = number;
        plan.faults.disk.failing_writes = count;
        run(plan, "write " + std::to_string(number) + " and " + std::to_string(count - 1) +
                      " more fail, and others follow");
      }
    }
  }
  for (const Mode mode : {Mode::synchronous, Mode::kernel, Mode::servers}) {
    for (const bool is_checkpoint : {false, true}) {
      for (const char* backend : {"posix", "pnetcdf", "hdf5", "netcdf"}) {
        Plan plan = small_job(mode, is_checkpoint, backend);
        plan.files.front() = vast_file(is_checkpoint, backend);
        run(plan, "offsets of more than 32 bits");
        plan.files.front().goes_on = true;
        plan.next.push_back({.mode = mode, .servers = plan.servers, .goes_back = 1});
        run(plan, "offsets of more than 32 bits, and a job that goes on");
      }
    }
  }
}

}  // namespace simulation
