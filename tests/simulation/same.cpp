// SPDX-License-Identifier: BSD-3-Clause
#include "same.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "disk.h"
#include "job.h"
#include "machine.h"
#include "random.h"
#include "world.h"

namespace simulation {
namespace {

struct Way {
  std::string name;
  Plan plan;
};

/// The view that a program has of a run, and who reads its files.
struct Sight {
  std::vector<std::vector<Ends>> ends;
  std::vector<std::set<std::int64_t>> committed;  // by file
  std::map<std::string, FileBytes> files;         // whose bytes must be the same
};

// Its members in any order, and in each step the rows of each of them behind those of the members
// before it.
void put_by_rows(Random& random, const Plan& plan, PlannedFile& file) {
  if (file.members.empty()) {
    file.members.resize(static_cast<std::size_t>(plan.ranks));
    std::iota(file.members.begin(), file.members.end(), 0);
  }
  for (std::size_t i = file.members.size(); i > 1; --i) {
    std::swap(file.members[i - 1],
              file.members[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  file.has_rows = true;
  for (auto& step : file.steps) {
    for (std::size_t v = 0; v < (step.is_skipped ? 0 : step.variables.size()); ++v) {
      auto& part = step.variables[v];
      part.puts.clear();
      std::int64_t first = 0;
      for (const int member : file.members) {
        const std::int64_t left = part.shape.front() - first;
        const std::int64_t rows = member == file.members.back() ? left : random.between(0, left);
        if (rows > 0) {
          Put put{.rank = member, .start{}, .count = part.shape};
          put.start.resize(part.shape.size());
          put.start.front() = first;
          put.count.front() = rows;
          part.puts.push_back(std::move(put));
        }
        first += rows;
      }
    }
  }
}

// A wait that is told of a mistake may end before the step of others does, or after it.
void wait_for_no_put(PlannedFile& file) {
  for (auto& step : file.steps) {
    for (auto& part : step.variables) {
      for (auto& put : part.puts) {
        put.await = Await::nothing;
      }
    }
  }
}

// The same calls in every way: in synchronous mode all ranks wait for the same steps.
Plan program_of(Plan plan) {
  Random random{plan.seed ^ 0x524F};
  plan.faults = {};
  plan.next.clear();
  for (auto& file : plan.files) {
    file.leaves_close_to_finalize = file.closes_later = false;
    file.fails_when_full = false;
    file.is_compressed = file.is_compressed && count_members(plan, file) == 1;
    for (auto& step : file.steps) {
      std::ranges::fill(step.waits_for, step.waits_for.front());
    }
    if (has_mistake(file)) {
      wait_for_no_put(file);
    } else if (random.chance(1, 3)) {
      put_by_rows(random, plan, file);
    }
  }
  return plan;
}

// Memory that is too small for a step is told in some ways only.
std::int64_t least_staging(const Plan& plan) {
  return std::ranges::any_of(plan.files, &PlannedFile::is_compressed) ? 1 << 22 : 0;
}

std::vector<Way> ways_of(const Plan& plan) {
  const Plan program = program_of(plan);
  Random random{plan.seed ^ 0x5A3E};
  std::vector<Way> ways;
  const auto add = [&](std::string name, Mode mode, int servers) {
    Way way{std::move(name), program};
    way.plan.mode = mode;
    way.plan.servers = servers;
    way.plan.seed = random.next();
    choose_sizes(random, way.plan);
    choose_system(Random{random.next()}, way.plan);
    way.plan.staging_bytes = std::max(way.plan.staging_bytes, least_staging(way.plan));
    ways.push_back(std::move(way));
  };
  add("synchronous", Mode::synchronous, 0);
  add("kernel", Mode::kernel, 0);
  const bool has_one_writer = std::ranges::any_of(program.files, &PlannedFile::is_compressed);
  for (int servers = 1; servers <= (has_one_writer ? 1 : std::min(3, program.ranks)); ++servers) {
    add(std::to_string(servers) + (servers == 1 ? " server" : " servers"), Mode::servers, servers);
  }
  return ways;
}

// Libraries of formats may order what is not values as they like. Where a step has failed, what is
// left of it in the file is nobody's; the manifest tells where the others lie.
bool has_same_bytes(const Plan& plan, const std::string& path) {
  return std::ranges::any_of(plan.files, [&](const PlannedFile& file) {
    return file.backend == "posix" && path.starts_with(file.name) &&
           (!has_mistake(file) || path.ends_with(".json"));
  });
}

Sight run(const Way& way, const std::function<void(const std::string&)>& log, Result& result) {
  Sight seen;
  Disk disk;
  std::vector<Told> told;
  std::vector<Seen> found_by_reader;
  std::vector<std::string> violations;
  const auto before = make_what_exists(way.plan, disk, violations);
  result.violations.insert(result.violations.end(), violations.begin(), violations.end());
  {
    World world{way.plan.seed};
    Machine machine{world, disk};
    Job job{way.plan, world, machine};
    job.know(before);
    if (log) {
      log(way.name + ':');
      job.when_called([&](const std::string& what) {
        log(std::to_string(world.now() / microsecond) + " us  " + what);
      });
    }
    job.run();
    seen.ends = job.oracle().ends();
    told = job.oracle().told();
    violations = job.oracle().violations();
  }
  const auto found = check_disk(way.plan, told, disk, "at the end", &found_by_reader);
  violations.insert(violations.end(), found.begin(), found.end());
  for (const auto& of_file : found_by_reader) {
    const auto numbers = std::views::keys(of_file.steps);
    seen.committed.emplace_back(numbers.begin(), numbers.end());
  }
  for (const auto& name : left_behind(disk)) {
    violations.push_back("at the end " + name + " is left");
  }
  for (const auto& violation : violations) {
    result.violations.push_back(way.name + ": " + violation);
  }
  for (const auto& path : disk.list()) {
    const auto inode = disk.find(path)->inode;
    if (!disk.is_folder(inode) && has_same_bytes(way.plan, path)) {
      seen.files[path] = disk.bytes(inode);
    }
  }
  return seen;
}

std::string name_of(int code) {
  return code == 0 ? "success" : std::string{iocomp::code_name(code)};
}

std::string list(const std::set<std::int64_t>& steps) {
  std::string text;
  for (const std::int64_t step : steps) {
    text += (text.empty() ? "" : " ") + std::to_string(step);
  }
  return text.empty() ? "none" : text;
}

void compare(const Plan& plan, const Sight& one, const Sight& other,
             const std::function<void(const std::string&)>& differs) {
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    const std::string in = " of " + plan.files[f].name;
    if (one.committed[f] != other.committed[f]) {
      differs("committed steps" + in + ": " + list(one.committed[f]) + "; " +
              list(other.committed[f]));
    }
    for (std::size_t rank = 0; rank < one.ends.size(); ++rank) {
      const Ends& here = one.ends[rank][f];
      const Ends& there = other.ends[rank][f];
      const std::string who = " of rank " + std::to_string(rank);
      if (here.first_error != there.first_error) {
        differs("first error" + in + who + ": " + name_of(here.first_error) + "; " +
                name_of(there.first_error));
      }
      for (const auto& [put, end] : here.tickets) {
        const auto same = there.tickets.find(put);
        // Some puts of a step that fails were durable before anybody knew. The step may be there
        // all the same, from a job before.
        const bool is_committed = one.committed[f].contains(std::get<0>(put)) &&
                                  !(plan.files[f].exists_before && here.first_error != 0);
        if (same != there.tickets.end() && same->second != end &&
            (is_committed || (same->second != 0 && end != 0))) {
          differs("put " + std::to_string(std::get<2>(put)) + " of " +
                  plan.files[f].variables[std::get<1>(put)].name + " in step " +
                  std::to_string(std::get<0>(put)) + in + who + ": " + name_of(end) + "; " +
                  name_of(same->second));
        }
      }
    }
  }
  for (const auto& [path, bytes] : one.files) {
    const auto same = other.files.find(path);
    if (same == other.files.end()) {
      differs(path + " is there; is not");
    } else if (same->second != bytes) {
      differs(path + " from byte " + std::to_string(bytes.mismatch(same->second)) + " on, of " +
              std::to_string(bytes.size()) + "; " + std::to_string(same->second.size()));
    }
  }
  for (const auto& [path, bytes] : other.files) {
    if (!one.files.contains(path)) {
      differs(path + " is not there; is");
    }
  }
}

}  // namespace

Result run_in_all_ways(const Plan& plan, const std::function<void(const std::string&)>& log) {
  Result result;
  std::vector<Sight> seen;
  const auto ways = ways_of(plan);
  for (const Way& way : ways) {
    seen.push_back(run(way, log, result));
    compare(plan, seen.front(), seen.back(), [&](const std::string& what) {
      result.violations.push_back(ways.front().name + " and " + way.name + " differ in " + what);
    });
  }
  return result;
}

}  // namespace simulation
