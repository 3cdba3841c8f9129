// SPDX-License-Identifier: BSD-3-Clause
#include "history.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "disk.h"
#include "job.h"
#include "machine.h"
#include "random.h"
#include "world.h"

namespace simulation {
namespace {

constexpr int of_no_job_before = 1000;  // a generation of values

std::int64_t count_faults(const PlannedFaults& faults) {
  return (faults.disk.capacity_bytes ? 1 : 0) + (faults.disk.failing_write ? 1 : 0) +
         (faults.disk.failing_sync ? 1 : 0) + (faults.disk.writes_are_short ? 1 : 0) +
         (faults.disk_slowness > 1 ? 1 : 0) + (faults.folder_goes ? 1 : 0) +
         (faults.stopped_process ? 1 : 0) + (faults.killed_at ? 1 : 0) +
         (faults.killed_server ? 1 : 0) + (faults.second_job_at ? 1 : 0) + faults.power_losses;
}

/// True if a byte is of a global heap of HDF5. The library looks for ever through one that is
/// damaged (docs/developers/faults.md).
bool is_in_heap(const Disk& disk, Disk::Inode inode, std::int64_t at) {
  constexpr std::int64_t least_heap = 4096;
  const std::int64_t begin = std::max<std::int64_t>(at - least_heap, 0);
  std::string before(static_cast<std::size_t>(at - begin + 1), '\0');
  (void)disk.bytes(inode).read(begin, std::as_writable_bytes(std::span{before}));
  return before.find("GCOL") != std::string::npos;
}

/// Tells in the log of a history what the library prints while it runs.
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

// Logs what the ranks are told, and what is asked of the disk, each with its time.
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

/// Returns those steps that a job leaves, and its ranks were not told of, nor found durable.
std::set<std::int64_t> untold(const Steps& steps, const Told& told) {
  std::set<std::int64_t> untold;
  for (const auto& [step, file] : steps) {
    const bool is_kept = told.first_step ? step <= told.before.after  // what lies behind is dropped
                                         : !told.before.unsure.contains(step);
    const auto before = told.before.steps.find(step);  // a job that replaces them has others
    const bool was_there = is_kept && before != told.before.steps.end() && before->second == file;
    if (!told.is_closed && !was_there && !told.committed.contains(step) &&
        !told.closed.contains(step)) {
      untold.insert(step);
    }
  }
  return untold;
}

/// Steps that are not there, and that a power loss may bring back until a job has opened the file:
/// those that `keep` has removed, those that a job dropped which did not come to tell of it, and
/// those of a file that was replaced by one that nobody was told of.
Steps removed(const PlannedFile& file, const Told& told, const Steps& there) {
  Steps removed;
  if (!told.first_step) {
    removed = told.before.removed;
    removed.insert(told.before.steps.begin(), told.before.steps.end());
  } else if (count_kept(file) > 0) {  // what lies behind `after` is dropped for ever
    const auto dropped = told.before.steps.upper_bound(told.before.after);
    removed.insert(told.before.steps.begin(), dropped);
    const auto planned = std::make_shared<const PlannedFile>(what_was_put(file, told));
    for (std::int64_t step = *told.first_step; step < std::ssize(file.steps); ++step) {
      removed.insert_or_assign(step, planned);
    }
  }
  std::erase_if(removed, [&](const auto& one) { return there.contains(one.first); });
  return removed;
}

/// One history while it is run: its jobs, one after the other, on one disk.
class History {
 public:
  using Log = std::function<void(const std::string&)>;
  History(const Plan& plan, const Log& log, const Inspect& inspect)
      : plan_{plan}, log_{log}, inspect_{inspect}, random_{plan.seed ^ 0xC4A5} {}

  [[nodiscard]] Result run();

 private:
  struct Look {  // what would be there after a power loss, and what had been promised by then
    std::string when;
    Disk disk;
    std::vector<Told> told;
  };
  void run_job(std::size_t number, const Plan& plan);
  [[nodiscard]] std::vector<Seen> check_looks(const Plan& plan);
  void check(const Plan& plan, Look& look, const std::vector<std::size_t>& files,
             std::vector<Seen>* found);
  void go_on_with(const NextJob& next);
  void run_again();
  void look_at_damages(const Disk& at_end);
  void go_on_with_damage(Disk& disk, const std::string& when, const std::string& path,
                         bool is_shorter);

  const Plan& plan_;
  const Log& log_;
  const Inspect& inspect_;
  Random random_;
  Disk disk_;
  std::vector<Found> before_;
  std::vector<Told> told_;
  std::vector<Look> looks_;  // of one job
  Result result_;
  bool is_left_alone_ = false;  // what the job has left is removed by the next one
};

Result History::run() {
  const Printed printed{log_};
  before_ = make_what_exists(job_of(plan_, 0), disk_, result_.violations);
  for (std::size_t number = 0; number <= plan_.next.size() && result_.violations.empty();
       ++number) {
    const Plan job = job_of(plan_, number);
    if (number > 0 && log_) {
      log_("job " + std::to_string(number) + " goes on:");
    }
    disk_.set_faults(job.faults.disk);
    run_job(number, job);
    disk_.heal();
    if (job.faults.power_losses > 0) {
      looks_.push_back({"after a power loss at the end", disk_.after_power_loss(random_), told_});
    }
    const bool is_after_power_loss =
        number < plan_.next.size() && plan_.next[number].follows_power_loss;
    if (is_after_power_loss) {
      disk_ = disk_.after_power_loss(random_);
      ++result_.faults;
      is_left_alone_ = true;
    }
    std::vector<Seen> found = check_looks(job);
    for (std::size_t file = 0; file < found.size(); ++file) {
      auto put = std::move(before_[file].put);
      put.push_back(
          std::make_shared<const PlannedFile>(what_was_put(job.files[file], told_[file])));
      before_[file] = {.steps = std::move(found[file].steps),
                       .newest_attributes = told_[file].newest_attributes,
                       .put = std::move(put)};
      if (!is_after_power_loss) {
        before_[file].unsure = untold(before_[file].steps, told_[file]);
        before_[file].removed = removed(job.files[file], told_[file], before_[file].steps);
        before_[file].is_untold = keeps_nothing(job.files[file], told_[file].before) &&
                                  !told_[file].is_closed && told_[file].committed.empty() &&
                                  told_[file].closed.empty();
      }
    }
    if (number < plan_.next.size()) {
      go_on_with(plan_.next[number]);
    }
  }
  const Disk at_end = disk_;
  if (is_left_alone_ && result_.violations.empty()) {
    run_again();
  }
  for (const auto& name : left_behind(disk_)) {
    // One that is killed right after it has created its file for spilling leaves the name.
    if (!is_left_alone_ || !name.starts_with(".iocomp-spill-")) {
      result_.violations.push_back("at the end " + name + " is left");
    }
  }
  if (result_.violations.empty()) {  // last, since libraries keep some damaged files open
    look_at_damages(at_end);
  }
  return std::move(result_);
}

// The programs of the next job know which steps are there, and may want to go on before the last.
void History::go_on_with(const NextJob& next) {
  for (Found& before : before_) {
    before.after = INT64_MAX;
    auto last = before.steps.rbegin();
    for (std::int64_t i = 0; i < next.goes_back && last != before.steps.rend(); ++i) {
      ++last;
    }
    if (next.goes_back > 0) {
      before.after = last == before.steps.rend() ? -1 : last->first;
    }
  }
}

void History::run_job(std::size_t number, const Plan& plan) {
  constexpr int jobs_of_others = 3;
  World world{plan.seed};
  Machine machine{world, disk_, number == 0 ? 0 : jobs_of_others + static_cast<int>(number)};
  Job job{plan, world, machine};
  job.know(before_);
  if (log_) {
    tell_of(world, machine, job, log_);
  }
  // Looks come right before changes: by then all is told that could be. How many changes there are
  // is not known before, so looks become rarer.
  int left = plan.faults.power_losses;
  std::int64_t gap = random_.between(1, 8);
  std::int64_t changes = random_.below(2 * gap);
  const auto look = [&] {
    if (left == 0 || changes-- > 0) {
      return;
    }
    --left;
    gap = random_.between(gap, gap + gap / 2 + 1);
    changes = random_.below(2 * gap);
    looks_.push_back({"after a power loss at " + in_microseconds(world.now()),
                      disk_.after_power_loss(random_), job.oracle().told()});
    if (log_) {
      log_(in_microseconds(world.now()) + "  a power loss is looked at");
    }
  };
  disk_.when_changing(look);
  job.run();
  disk_.when_changing({});
  result_.violations = job.oracle().violations();
  result_.faults += count_faults(plan.faults) - left;
  told_ = job.oracle().told();
  is_left_alone_ =
      is_left_alone_ || job.was_killed() || job.have_given_up() || plan.faults.folder_goes;
}

// The look at the end is checked first. Of looks that show the same of a file, one is
// checked.
std::vector<Seen> History::check_looks(const Plan& plan) {
  std::vector<Look> looks = std::exchange(looks_, {});
  looks.insert(looks.begin(), {"at the end", disk_, told_});
  std::vector<Seen> found;
  for (auto look = looks.begin(); look != looks.end(); ++look) {
    std::vector<std::size_t> files;
    for (std::size_t file = 0; file < plan.files.size(); ++file) {
      const bool is_known = std::any_of(looks.begin(), look, [&](const Look& earlier) {
        return earlier.told[file] == look->told[file] &&
               earlier.disk.looks_like(look->disk, plan.files[file].name);
      });
      if (!is_known) {
        files.push_back(file);
      }
    }
    if (!files.empty()) {
      check(plan, *look, files, look == looks.begin() ? &found : nullptr);
    }
    const auto lost = check_durable(plan, look->told, look->disk, look->when, found);
    result_.violations.insert(result_.violations.end(), lost.begin(), lost.end());
  }
  return found;
}

void History::check(const Plan& plan, Look& look, const std::vector<std::size_t>& files,
                    std::vector<Seen>* found) {
  if (log_) {
    log_("a reader looks at what is there " + look.when);
  }
  const auto broken = check_disk(plan, look.told, look.disk, look.when, found, &files);
  result_.violations.insert(result_.violations.end(), broken.begin(), broken.end());
  if (inspect_) {
    inspect_(plan, look.disk, look.told);
  }
}

// Somebody else changes what is there: a bit, a sector, or the length of a file. A reader tells it,
// or shows what is right.
void History::look_at_damages(const Disk& at_end) {
  const Plan job = job_of(plan_, plan_.next.size());
  std::vector<std::string> paths = at_end.list();
  std::erase_if(paths, [&](const std::string& path) {
    const auto inode = at_end.find(path)->inode;
    return path.starts_with('.') || at_end.is_folder(inode) || at_end.size(inode) == 0;
  });
  for (int damage = 0; damage < plan_.damages && !paths.empty(); ++damage) {
    Disk disk = at_end;
    const std::string& path = random_.among(paths);
    const auto inode = disk.find(path)->inode;
    const std::int64_t at = random_.below(disk.size(inode));
    const auto kind = random_.below(3);
    if (kind != 0 && is_in_heap(disk, inode, at)) {
      continue;
    }
    if (kind == 0) {
      (void)disk.resize(inode, at, 0);
    } else {
      std::vector<std::byte> bytes(static_cast<std::size_t>(
          kind == 1 ? 1 : std::min(Disk::sector_bytes, disk.size(inode) - at)));
      (void)disk.bytes(inode).read(at, bytes);
      std::ranges::for_each(bytes, [](std::byte& byte) { byte ^= std::byte{4}; });
      (void)disk.write(inode, at, bytes, 0, random_);
    }
    ++result_.faults;
    const std::string when = std::string{kind == 0   ? "cut at byte "
                                         : kind == 1 ? "with another byte "
                                                     : "with other bytes from "} +
                             std::to_string(at) + (kind == 0 ? " is " : " on is ") + path;
    for (const auto& broken : check_damaged(job, told_, disk, when, path, kind == 0)) {
      result_.violations.push_back(broken);
    }
    go_on_with_damage(disk, when, path, kind == 0);
  }
}

// A job may refuse the file, or fail in any call. It neither hangs nor makes steps that are wrong.
void History::go_on_with_damage(Disk& disk, const std::string& when, const std::string& path,
                                bool is_shorter) {
  Plan plan = job_of(plan_, plan_.next.size());
  plan.faults = {};
  plan.finds_damage = true;
  std::erase_if(plan.files, [&](const PlannedFile& file) {
    return !file.goes_on || !path.starts_with(file.name);
  });
  if (plan.files.empty()) {
    return;
  }
  plan.files.front().generation = of_no_job_before;
  plan.files.front().comes_after.clear();
  World world{plan.seed + 3};
  Machine machine{world, disk, 3};
  Job job{plan, world, machine};
  const auto number = static_cast<std::size_t>(
      std::ranges::find(plan_.files, plan.files.front().name, &PlannedFile::name) -
      plan_.files.begin());
  job.know({before_[number]});
  if (log_) {
    log_("a job goes on with the file " + when + ':');
    tell_of(world, machine, job, log_);
  }
  job.run();
  std::vector<std::string> found = job.oracle().violations();
  for (const auto& wrong :
       check_damaged(plan, job.oracle().told(), disk, "after a job", path, is_shorter)) {
    found.push_back(wrong);
  }
  for (const auto& broken : found) {
    result_.violations.push_back(when + ", and a job goes on: " + broken);
  }
}

// The programs once more, with values of their own; their files replace what was there.
void History::run_again() {
  Plan plan = plan_;
  plan.next.clear();
  plan.faults = {};
  plan.staging_bytes = 1 << 22;  // what this job cannot write would stay as the first has left it
  for (auto& file : plan.files) {
    file.generation = of_no_job_before;
    file.replaces = true;
    file.goes_on = false;
    file.fails_when_full = false;
  }
  World world{plan.seed + 1};
  Machine machine{world, disk_, 1};
  Job job{plan, world, machine};
  job.know(before_);
  if (log_) {
    log_("the next job:");
    tell_of(world, machine, job, log_);
  }
  job.run();
  std::vector<std::string> found = job.oracle().violations();
  for (const auto& more :
       check_disk(plan, job.oracle().told(), disk_, "at the end of the next job")) {
    found.push_back(more);
  }
  for (const auto& violation : found) {
    result_.violations.push_back("the next job: " + violation);
  }
}

}  // namespace

std::vector<Found> make_what_exists(const Plan& plan, Disk& disk,
                                    std::vector<std::string>& violations) {
  std::vector<Found> found(plan.files.size());
  Plan before = plan;
  before.next.clear();
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
    return found;
  }
  before.staging_bytes = 1 << 22;
  std::vector<Seen> seen;
  World world{plan.seed + 2};
  Machine machine{world, disk, 2};
  Job job{before, world, machine};
  job.run();
  violations = job.oracle().violations();
  const auto broken = check_disk(before, job.oracle().told(), disk, "before the job", &seen);
  violations.insert(violations.end(), broken.begin(), broken.end());
  auto next = seen.begin();
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    if (plan.files[f].exists_before) {
      found[f].steps = std::move(next->steps);
      found[f].put.push_back(std::make_shared<const PlannedFile>(old_of(plan.files[f])));
      found[f].newest_attributes =
          job.oracle().told()[static_cast<std::size_t>(next - seen.begin())].newest_attributes;
      ++next;
    }
  }
  return found;
}

Result run_history(const Plan& plan, const std::function<void(const std::string&)>& log,
                   const Inspect& inspect) {
  return History{plan, log, inspect}.run();
}

}  // namespace simulation
