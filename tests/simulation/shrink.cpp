// SPDX-License-Identifier: BSD-3-Clause
#include "shrink.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace simulation {
namespace {

// The job is a plan, or a job that goes on.
void limit_servers(auto& job, int ranks, int most) {
  job.servers = std::min(job.servers, most);
  job.nodes = std::min(job.nodes, job.servers > 0 ? job.servers : ranks);
  PlannedFaults& faults = job.faults;
  if (faults.killed_server && *faults.killed_server >= job.servers) {
    faults.killed_server.reset();
  }
  if (faults.stopped_process && *faults.stopped_process >= ranks + job.servers) {
    faults.stopped_process.reset();
  }
}

void remove_rank(Plan& plan) {
  --plan.ranks;
  limit_servers(plan, plan.ranks, plan.ranks);
  for (auto& next : plan.next) {
    limit_servers(next, plan.ranks, plan.ranks);
  }
  for (auto& file : plan.files) {
    std::erase(file.members, plan.ranks);
    for (auto& step : file.steps) {
      step.waits_for.pop_back();
      for (auto& variable : step.variables) {
        std::erase_if(variable.puts, [&](const Put& put) { return put.rank >= plan.ranks; });
      }
    }
  }
}

void remove_variable(PlannedFile& file, std::size_t number) {
  const auto at = static_cast<std::ptrdiff_t>(number);
  file.variables.erase(file.variables.begin() + at);
  for (auto& step : file.steps) {
    step.variables.erase(step.variables.begin() + at);
  }
}

// One fault less.
std::vector<PlannedFaults> with_fewer(const PlannedFaults& faults) {
  std::vector<PlannedFaults> all;
  const auto without = [&](bool is_there, const auto& remove) {
    if (is_there) {
      all.push_back(faults);
      remove(all.back());
    }
  };
  const auto& disk = faults.disk;
  without(disk.capacity_bytes || disk.failing_write || disk.failing_sync || disk.writes_are_short,
          [](PlannedFaults& less) { less.disk = {}; });
  without(faults.folder_goes.has_value(), [](PlannedFaults& less) { less.folder_goes.reset(); });
  without(faults.killed_at.has_value(), [](PlannedFaults& less) { less.killed_at.reset(); });
  without(faults.killed_server.has_value(),
          [](PlannedFaults& less) { less.killed_server.reset(); });
  without(faults.killed_at_sync.has_value(),
          [](PlannedFaults& less) { less.killed_at_sync.reset(); });
  without(faults.stopped_process.has_value(),
          [](PlannedFaults& less) { less.stopped_process.reset(); });
  without(faults.second_job_at.has_value(),
          [](PlannedFaults& less) { less.second_job_at.reset(); });
  without(faults.disk_slowness > 1, [](PlannedFaults& less) { less.disk_slowness = 1; });
  without(faults.power_losses > 0, [](PlannedFaults& less) { less.power_losses = 0; });
  return all;
}

/// Plans that are a little smaller than this one.
std::vector<Plan> smaller(const Plan& plan) {
  std::vector<Plan> all;
  const auto with = [&](const auto& change) {
    all.push_back(plan);
    change(all.back());
  };
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    const auto at = static_cast<std::ptrdiff_t>(f);
    if (plan.files.size() > 1) {
      with([&](Plan& less) { less.files.erase(less.files.begin() + at); });
    }
    const PlannedFile& file = plan.files[f];
    if (!file.members.empty()) {
      with([&](Plan& less) { less.files[f].members.clear(); });
    }
    if (!file.comes_after.empty()) {
      with([&](Plan& less) { less.files[f].comes_after.clear(); });
    }
    if (file.mistake != Mistake::none) {
      with([&](Plan& less) { less.files[f].mistake = Mistake::none; });
      if (file.mistaken_rank > 0 && is_member(file, 0)) {
        with([&](Plan& less) { less.files[f].mistaken_rank = 0; });
      }
    }
    if (file.closes_later) {
      with([&](Plan& less) { less.files[f].closes_later = false; });
    }
    if (file.steps.size() > 1) {
      with([&](Plan& less) { less.files[f].steps.pop_back(); });
    }
    for (std::size_t v = 0; file.variables.size() > 1 && v < file.variables.size(); ++v) {
      with([&](Plan& less) { remove_variable(less.files[f], v); });
    }
    for (std::size_t s = 0; s < file.steps.size(); ++s) {
      for (std::size_t v = 0; v < file.variables.size(); ++v) {
        const auto& puts = file.steps[s].variables[v].puts;
        for (std::size_t p = 0; p < puts.size(); ++p) {
          const auto put_of = [&](Plan& less) -> Put& {
            return less.files[f].steps[s].variables[v].puts[p];
          };
          with([&](Plan& less) {
            auto& left = less.files[f].steps[s].variables[v].puts;
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(p));
          });
          if (puts[p].is_buffered) {
            with([&](Plan& less) { put_of(less).is_buffered = false; });
          }
          if (puts[p].is_allocated) {
            with([&](Plan& less) { put_of(less).is_allocated = false; });
          }
          if (puts[p].is_aligned) {
            with([&](Plan& less) { put_of(less).is_aligned = false; });
          }
          if (puts[p].is_strided) {
            with([&](Plan& less) { put_of(less).is_strided = false; });
          }
          if (puts[p].await != Await::nothing) {
            with([&](Plan& less) { put_of(less).await = Await::nothing; });
          }
        }
      }
      if (std::ranges::any_of(file.steps[s].waits_for,
                              [](auto wait) { return wait.has_value(); })) {
        with(
            [&](Plan& less) { std::ranges::fill(less.files[f].steps[s].waits_for, std::nullopt); });
      }
    }
    for (std::size_t v = 0; v < file.variables.size(); ++v) {
      if (file.variables[v].fill != 0) {
        with([&](Plan& less) { less.files[f].variables[v].fill = 0; });
      }
    }
  }
  if (plan.damages > 0) {
    with([](Plan& less) { less.damages = 0; });
  }
  const auto needs_last_rank = [&](const PlannedFile& file) {
    const bool is_alone = file.members.size() == 1 && file.members.front() == plan.ranks - 1;
    return is_alone || (file.mistake != Mistake::none && file.mistaken_rank == plan.ranks - 1);
  };
  if (plan.ranks > 1 && std::ranges::none_of(plan.files, needs_last_rank)) {
    with([](Plan& less) { remove_rank(less); });
  }
  if (plan.are_files_in_turn) {
    with([](Plan& less) { less.are_files_in_turn = false; });
  }
  if (plan.servers > 1) {
    with([](Plan& less) { limit_servers(less, less.ranks, less.servers - 1); });
  }
  if (plan.nodes > 1) {
    with([](Plan& less) { less.nodes = 1; });
  }
  if (plan.shares_memory) {
    with([](Plan& less) { less.shares_memory = false; });
  }
  if (plan.way != "auto") {
    with([](Plan& less) { less.way = "auto"; });
  }
  if (plan.system != System{}) {
    with([](Plan& less) { less.system = {}; });
  }
  if (plan.system.rings != System::Rings::none) {
    with([](Plan& less) { less.system.rings = System::Rings::none; });
  }
  const auto faults_of = [](Plan& less, std::size_t job) -> PlannedFaults& {
    return job == 0 ? less.faults : less.next[job - 1].faults;
  };
  for (std::size_t job = 0; job <= plan.next.size(); ++job) {
    for (auto& less : with_fewer(job == 0 ? plan.faults : plan.next[job - 1].faults)) {
      with([&](Plan& smaller_plan) { faults_of(smaller_plan, job) = less; });
    }
  }
  for (std::size_t job = 0; job < plan.next.size(); ++job) {
    const NextJob& next = plan.next[job];
    with(
        [&](Plan& less) { less.next.erase(less.next.begin() + static_cast<std::ptrdiff_t>(job)); });
    if (next.mode != Mode::kernel) {
      with([&](Plan& less) {
        less.next[job].mode = Mode::kernel;
        less.next[job].servers = 0;
      });
    }
    if (next.follows_power_loss) {
      with([&](Plan& less) { less.next[job].follows_power_loss = false; });
    }
    if (next.goes_back > 0) {
      with([&](Plan& less) { --less.next[job].goes_back; });
    }
  }
  return all;
}

}  // namespace

Plan shrink(Plan plan, const std::function<bool(const Plan&)>& is_broken) {
  bool has_shrunk = true;
  while (has_shrunk) {
    has_shrunk = false;
    for (auto& less : smaller(plan)) {
      if (is_broken(less)) {
        plan = std::move(less);
        has_shrunk = true;
        break;
      }
    }
  }
  return plan;
}

}  // namespace simulation
