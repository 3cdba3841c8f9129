#include "history.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "disk.h"
#include "job.h"
#include "machine.h"
#include "random.h"
#include "world.h"

namespace simulation {
namespace {

/// What would be there after a power loss, and what had been promised by then.
struct Look {
  Nanoseconds time;
  Disk disk;
  std::vector<Told> told;
};

std::int64_t count_faults(const PlannedFaults& faults) {
  return (faults.disk.capacity_bytes ? 1 : 0) + (faults.disk.failing_write ? 1 : 0) +
         (faults.disk.failing_sync ? 1 : 0) + (faults.disk.writes_are_short ? 1 : 0) +
         (faults.disk_slowness > 1 ? 1 : 0) + (faults.stopped_process ? 1 : 0) +
         (faults.killed_at ? 1 : 0) + (faults.killed_server ? 1 : 0) + faults.power_losses;
}

/// What the library prints while a history runs is told in its log.
class Printed {
 public:
  explicit Printed(std::function<void(const std::string&)> log) : log_{std::move(log)} {
    const cookie_io_functions_t calls{.read = nullptr,
                                      .write =
                                          [](void* self, const char* text, std::size_t count) {
                                            static_cast<Printed*>(self)->tell({text, count});
                                            return static_cast<ssize_t>(count);
                                          },
                                      .seek = nullptr,
                                      .close = nullptr};
    stderr = fopencookie(this, "w", calls);
    setvbuf(stderr, nullptr, _IONBF, 0);
  }
  ~Printed() {
    std::fclose(stderr);
    stderr = before_;
  }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

 private:
  void tell(const std::string& text) {
    if (log_) {
      log_("printed: " + text.substr(0, text.find_last_not_of('\n') + 1));
    }
  }
  std::function<void(const std::string&)> log_;
  FILE* before_ = stderr;
};

std::string in_microseconds(Nanoseconds time) { return std::to_string(time / microsecond) + " us"; }

// What the ranks are told, and what is asked of the disk, each with its time.
void tell_of(World& world, Machine& machine, Job& job,
             const std::function<void(const std::string&)>& log) {
  const auto timed = [&world, log](const std::string& what) {
    log(in_microseconds(world.now()) + "  " + what);
  };
  job.when_called(timed);
  machine.when_called([&world, timed](const std::string& what) {
    timed((world.thread() == 0 ? "the kernel" : world.name(world.process())) + ' ' + what);
  });
}

// The same job once more; it replaces what was there.
void run_again(Plan plan, const std::vector<std::set<std::int64_t>>& before, Disk& disk,
               Result& result, const std::function<void(const std::string&)>& log) {
  plan.faults = {};
  plan.staging_bytes = 1 << 22;  // what this job cannot write would stay as the first has left it
  for (auto& file : plan.files) {
    file.replaces = true;
    file.fails_when_full = false;
  }
  World world{plan.seed + 1};
  Machine machine{world, disk, 1};
  Job job{plan, world, machine};
  for (std::size_t file = 0; file < before.size(); ++file) {
    job.know(file, before[file]);
  }
  if (log) {
    log("the next job:");
    tell_of(world, machine, job, log);
  }
  job.run();
  std::vector<std::string> found = job.violations();
  for (const auto& more : check_disk(plan, job.told(), disk, "at the end of the next job")) {
    found.push_back(more);
  }
  for (const auto& violation : found) {
    result.violations.push_back("the next job: " + violation);
  }
}

}  // namespace

std::vector<std::set<std::int64_t>> make_what_exists(const Plan& plan, Disk& disk,
                                                     std::vector<std::string>& violations) {
  std::vector<std::set<std::int64_t>> steps(plan.files.size());
  Plan before = plan;
  before.faults = {};
  before.files.clear();
  for (const PlannedFile& file : plan.files) {
    if (file.exists_before) {
      before.files.push_back(old_of(file));
      PlannedFile& old = before.files.back();
      old.mistake = Mistake::none;
      old.exists_before = old.replaces = old.fails_when_full = false;
    }
  }
  if (before.files.empty()) {
    return steps;
  }
  before.staging_bytes = 1 << 22;
  std::vector<std::set<std::int64_t>> seen;
  World world{plan.seed + 2};
  Machine machine{world, disk, 2};
  Job job{before, world, machine};
  job.run();
  violations = job.violations();
  const auto told = job.told();
  const auto found = check_disk(before, told, disk, "before the job", &seen);
  violations.insert(violations.end(), found.begin(), found.end());
  auto next = seen.begin();
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    if (!plan.files[f].exists_before) {
      continue;
    }
    for (const std::int64_t step : *next++) {
      const auto& variables = plan.files[f].steps[static_cast<std::size_t>(step)].variables;
      if (std::ranges::any_of(variables, [](const auto& part) { return !part.puts.empty(); })) {
        steps[f].insert(step);
      }
    }
  }
  return steps;
}

Result run_history(const Plan& plan, const std::function<void(const std::string&)>& log,
                   const std::function<void(const Disk&, const std::vector<Told>&)>& inspect) {
  Result result;
  const Printed printed{log};
  Random random{plan.seed ^ 0xC4A5};
  Disk disk;
  const auto before = make_what_exists(plan, disk, result.violations);
  if (!result.violations.empty()) {
    return result;
  }
  disk.set_faults(plan.faults.disk);
  std::vector<Look> looks;
  std::vector<Told> told;
  bool is_left_alone = false;  // what the job has left is removed by the next one
  {
    World world{plan.seed};
    Machine machine{world, disk};
    Job job{plan, world, machine};
    for (std::size_t file = 0; file < before.size(); ++file) {
      job.know(file, before[file]);
    }
    if (log) {
      tell_of(world, machine, job, log);
    }
    // How long the job takes is not known before: each look plans the next.
    int left = plan.faults.power_losses;
    Nanoseconds pause = random.between(10 * microsecond, millisecond);
    std::function<void()> look = [&] {
      looks.push_back({world.now(), disk.after_power_loss(random), job.told()});
      if (log) {
        log(in_microseconds(world.now()) + "  a power loss is looked at");
      }
      pause = random.between(pause / 2, 2 * pause);
      if (--left > 0) {
        world.at(world.now() + pause, look);
      }
    };
    if (left > 0) {
      world.at(pause, look);
    }
    job.run();
    result.violations = job.violations();
    result.turns = world.turns();
    told = job.told();
    is_left_alone = job.was_killed() || job.have_given_up();
    result.faults = count_faults(plan.faults) - left;
  }
  const auto check = [&](Disk& seen, const std::vector<Told>& promised, const std::string& when) {
    if (log) {
      log("a reader looks at what is there " + when);
    }
    const auto found = check_disk(plan, promised, seen, when);
    result.violations.insert(result.violations.end(), found.begin(), found.end());
    if (inspect) {
      inspect(seen, promised);
    }
  };
  for (auto& [time, after, promised] : looks) {
    check(after, promised, "after a power loss at " + in_microseconds(time));
  }
  disk.heal();
  if (plan.faults.power_losses > 0) {
    Disk after = disk.after_power_loss(random);
    check(after, told, "after a power loss at the end");
  }
  check(disk, told, "at the end");
  if (is_left_alone) {
    run_again(plan, before, disk, result, log);
  }
  for (const auto& name : left_behind(disk)) {
    // One that is killed right after it has created its file for spilling leaves the name.
    if (!is_left_alone || !name.starts_with(".iocomp-spill-")) {
      result.violations.push_back("at the end " + name + " is left");
    }
  }
  return result;
}

}  // namespace simulation
