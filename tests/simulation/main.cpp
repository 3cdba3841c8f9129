// SPDX-License-Identifier: BSD-3-Clause
// Histories of the library under faults: docs/developers/simulation.md.
#include <malloc.h>
#include <netcdf.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/single_threaded.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/bug.h"
#include "formats/registry.h"
#include "formats/sources.h"
#include "history.h"
#include "plan.h"
#include "plan_text.h"
#include "reached.h"
#include "real_files.h"
#include "same.h"
#include "shrink.h"
#include "sweep.h"

extern "C" __attribute__((weak)) void __gcov_dump();  // with --coverage

namespace {

using simulation::Focus;
using simulation::Plan;
using simulation::Result;

struct Options {
  std::uint64_t seeds = UINT64_MAX;
  std::uint64_t from = 1;
  double seconds = 0;
  int jobs = 1;
  int one_in = 1;
  Focus focus = Focus::any;
  iocomp::Bug bug = iocomp::Bug::none;
  bool is_told = false;
  bool shrinks = false;
  bool goes_on = false;
  bool tries_bugs = false;
  bool sweeps = false;
  bool compares = false;
  std::string keep{};   ///< a file, for the plan
  std::string files{};  ///< a folder, for what is on the disks
  std::string kept{};   ///< a file, or a folder of files, with plans
  /// Seeds, numbers of histories of the sweep, or names of kept plans; empty: all.
  std::set<std::string> only{};
  std::string reached{};  ///< a file, for the mutants that each history reaches
};

bool is_chosen(const std::string& history, const Options& options) {
  return options.only.empty() || options.only.contains(history);
}

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "simulation: %s\n", why.c_str());
  std::exit(2);
}

iocomp::Bug bug_named(std::string_view name) {
#ifndef IOCOMP_SIMULATION
  stop("bugs are planted in the preset simulation only");
#endif
  const auto found = std::ranges::find(iocomp::bug_names, name);
  if (found == iocomp::bug_names.end()) {
    throw CLI::ValidationError{"--bug", "there is no " + std::string{name}};
  }
  return static_cast<iocomp::Bug>(found - iocomp::bug_names.begin());
}

const std::map<std::string, Focus>& focuses() {
  static const std::map<std::string, Focus> all{{"any", Focus::any},
                                                {"crash", Focus::crash},
                                                {"disk", Focus::disk},
                                                {"network", Focus::network}};
  return all;
}

std::set<std::string> words_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istream_iterator<std::string>{file}, {}};
}

Options read_options(int count, char** words) {
  Options options;
  std::string from;
  CLI::App app{"Histories of the library under faults: docs/developers/simulation.md"};
  auto* const seeds = app.add_option("--seeds", options.seeds, "how many (1000)");
  seeds->check(CLI::PositiveNumber);
  app.add_option("--from", from, "the first seed (1); new: one that nobody has tried");
  auto* const seconds = app.add_option("--seconds", options.seconds, "end after so long");
  seconds->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "processes at a time (1)")->check(CLI::PositiveNumber);
  app.add_option_function<std::string>(
         "--focus", [&](const std::string& word) { options.focus = focuses().at(word); },
         "what goes wrong (any)")
      ->check(CLI::IsMember{focuses()});
  app.add_flag("--go-on", options.goes_on, "after a seed that breaks a promise");
  app.add_flag("--log", options.is_told, "tell what happens");
  app.add_flag("--shrink", options.shrinks, "tell the smallest history that breaks a promise");
  app.add_option("--keep", options.keep,
                 "write the plan, or the first that is broken, into this file");
  app.add_option_function<std::string>(
      "--bug", [&](const std::string& name) { options.bug = bug_named(name); }, "plant this one");
  auto* const files = app.add_option("--files", options.files, "a folder for what is on the disks");
  auto* const same = app.add_flag("--same", options.compares, "run each workload in every mode");
  auto* const kept = app.add_option("--kept", options.kept, "run this plan, or those of a folder");
  auto* const sweeps = app.add_flag("--sweep", options.sweeps, "run one small job with each fault");
  auto* const bugs = app.add_flag("--bugs", options.tries_bugs, "is every planted bug found?");
  app.add_option("--one-in", options.one_in, "run each N-th history of the sweep")
      ->check(CLI::PositiveNumber)
      ->needs(sweeps);
  app.add_option_function<std::string>(
         "--only", [&](const std::string& path) { options.only = words_of(path); },
         "run only the seeds, numbers of the sweep or kept plans that this file names")
      ->check(CLI::ExistingFile);
  app.add_option("--reached", options.reached,
                 "in a build with mutants: a file for those that each history reaches");
  kept->check(CLI::ExistingPath)->excludes(sweeps)->excludes(bugs);
  sweeps->excludes(bugs);
  files->excludes(same);
  try {
    app.parse(count, words);
    if (from == "new") {
      options.from = static_cast<std::uint64_t>(std::time(nullptr)) << 24U;
      std::printf("from seed %llu\n", static_cast<unsigned long long>(options.from));
    } else if (!from.empty()) {
      const char* const end = from.data() + from.size();
      const auto [rest, error] = std::from_chars(from.data(), end, options.from);
      if (rest != end || error != std::errc{}) {
        throw CLI::ValidationError{"--from", from + " is no number below 2^64, and not new"};
      }
    }
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (*seeds || *seconds) {
    return options;
  }
  options.seeds = options.tries_bugs ? UINT64_MAX : 1000;
  return options;
}

// The addresses of memory must not change what happens. Small memory that is free waits in lists,
// of which the C library reads the length when a program begins.
void without_random_addresses(char** words) {
  const int now = personality(0xffffffff);
  setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=10000", 0);
  if (now != -1 && (now & ADDR_NO_RANDOMIZE) == 0 &&
      personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) != -1) {
    execv("/proc/self/exe", words);
  }
}

// netCDF clears half a megabyte for the first file that is open, and frees it with the last one.
void keep_table_of_netcdf() {
  int stays_open = 0;
  (void)nc_create("unused", NC_DISKLESS, &stays_open);
}

void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

void plant(iocomp::Bug bug) {
#ifdef IOCOMP_SIMULATION
  iocomp::planted_bug = bug;
#else
  (void)bug;
#endif
}

// A child: what it has of its parent is not destroyed twice.
[[noreturn]] void leave() {
  std::fflush(stdout);
  if (__gcov_dump != nullptr) {
    __gcov_dump();
  }
  _exit(0);
}

struct Sum {
  std::uint64_t histories = 0;
  std::int64_t faults = 0;
  std::uint64_t broken = 0;
  bool has_died = false;
  /// Libraries that fail to read what was damaged may keep it open. A process of its own would hold
  /// that file then, but here descriptors and files of the next history have the same numbers.
  bool had_damages = false;
};

// That which a child runs, or the number of a history, so that its parent can tell if it dies.
std::uint64_t* seed_at_work() {
  static auto* const seed = static_cast<std::uint64_t*>(mmap(
      nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return seed;
}

// The memory of a killed process is not freed: after some histories a child goes on in memory that
// is as new. It says by its pipe what it came to.
// @param who  has died, if it does.
Sum run_in_child(const std::function<Sum()>& body, const std::function<std::string()>& who) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    stop("no pipe");
  }
  std::fflush(stdout);
  (void)seed_at_work();
  const pid_t child = fork();
  if (child == 0) {
    const Sum sum = body();
    (void)!write(ends[1], &sum, sizeof(sum));
    leave();
  }
  close(ends[1]);
  Sum sum;
  const bool has_answer = read(ends[0], &sum, sizeof(sum)) == sizeof(sum);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!has_answer) {
    sum = {.histories = 1, .faults = 0, .broken = 1, .has_died = true};
    print(who() + ": the process " +
          (WTERMSIG(status) == SIGVTALRM ? std::string{"does not end: a thread never gives way"}
                                         : "ends with signal " + std::to_string(WTERMSIG(status))));
  }
  return sum;
}

using Log = std::function<void(const std::string&)>;

// A seed, and what else makes its history.
std::string name_of(std::uint64_t seed, const Options& options) {
  std::string name = "seed " + std::to_string(seed);
  for (const auto& [word, focus] : focuses()) {
    name += focus == options.focus && focus != Focus::any ? " --focus " + word : "";
  }
  return name + (options.compares ? " --same" : "");
}

std::function<std::string()> who_is_at_work(const Options& options) {
  return [&options] { return name_of(*seed_at_work(), options); };
}

// A loop in which no thread gives way is seen by the processor time that it takes.
void limit_time() {
  constexpr itimerval limit{.it_interval = {}, .it_value = {.tv_sec = 60, .tv_usec = 0}};
  setitimer(ITIMER_VIRTUAL, &limit, nullptr);  // then SIGVTALRM ends this process
}

/// One history; of some seeds what its programs do is also run in every way.
Result run_plan(const Plan& plan, bool compares, const Log& log = {},
                const std::string& folder = {}) {
  constexpr std::uint64_t sample = 64;
  limit_time();
  if (compares) {
    return simulation::run_in_all_ways(plan, log);
  }
  int disks = 0;
  simulation::Inspect look;
  if (!folder.empty()) {
    look = [&](const Plan& job, const auto& disk, const auto& told) {
      const std::string name = std::to_string(plan.seed) + '.' + std::to_string(disks);
      disks += simulation::write_real_files(job, told, disk, folder + '/' + name) ? 1 : 0;
    };
  }
  Result result = simulation::run_history(plan, log, look);
  if (result.violations.empty() && plan.seed % sample == 0) {
    const std::string text = simulation::as_text(plan);
    if (simulation::as_text(simulation::read_plan(text)) != text) {
      result.violations.emplace_back("the plan cannot be read again:\n" + text);
      return result;
    }
    if (plan.damages == 0) {  // of damaged files libraries keep some open
      result.violations = simulation::run_in_all_ways(plan, log).violations;
    }
  }
  return result;
}

void keep(const Plan& plan, const Options& options) {
  if (!options.keep.empty()) {
    std::ofstream{options.keep} << simulation::as_text(plan);
  }
}

Plan read_kept(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    stop("cannot read " + path.string());
  }
  try {
    return simulation::read_plan(text.str());
  } catch (const std::invalid_argument& error) {
    stop(path.string() + ": " + error.what());
  }
}

// Runs the histories that once broke a promise.
int run_kept(const Options& options) {
  std::vector<std::filesystem::path> paths{options.kept};
  if (std::filesystem::is_directory(options.kept)) {
    const std::filesystem::directory_iterator folder{options.kept};
    paths.assign(std::filesystem::begin(folder), std::filesystem::end(folder));
    std::ranges::sort(paths);
  }
  std::uint64_t broken = 0;
  for (const auto& path : paths) {
    const std::string name = path.filename().string();
    if (!is_chosen(name, options)) {
      continue;
    }
    const Plan plan = read_kept(path);
    const auto run = [&] {
      const Log log = options.is_told ? print : Log{};
      auto violations = run_plan(plan, false, log).violations;
      const auto more = run_plan(plan, true, log).violations;
      violations.insert(violations.end(), more.begin(), more.end());
      for (const auto& violation : violations) {
        print(name + ": " + violation);
      }
      simulation::tell_reached(options.reached, name);
      return Sum{1, 0, violations.empty() ? 0U : 1U};
    };
    broken += run_in_child(run, [&] { return name; }).broken;
  }
  print(std::to_string(paths.size()) + " kept histories: " + std::to_string(broken) + " broken");
  return paths.empty() || broken > 0 ? 1 : 0;
}

// One small job with each fault.
int run_sweep(const Options& options, const Log& log) {
  const auto run = [&] {
    Sum sum;
    *seed_at_work() = 0;
    simulation::sweep(options.one_in, [&](const Plan& plan, const std::string& name) {
      const std::string number = std::to_string(++*seed_at_work());
      if (!is_chosen(number, options) || (sum.broken > 0 && !options.goes_on)) {
        return;
      }
      ++sum.histories;
      const auto violations = run_plan(plan, false).violations;
      for (const auto& violation : violations) {
        log("history " + number + ", " + name + ": " + violation);
      }
      simulation::tell_reached(options.reached, number);
      if (!violations.empty() && sum.broken++ == 0) {
        keep(plan, options);
      }
    });
    return sum;
  };
  const Sum sum = run_in_child(
      run, [] { return "history " + std::to_string(*seed_at_work()) + " of the sweep"; });
  log(std::to_string(sum.histories) + " histories of one small job: " + std::to_string(sum.broken) +
      " broken");
  return sum.broken == 0 ? 0 : 1;
}

Sum run_seed(std::uint64_t seed, const Options& options) {
  const Plan plan = simulation::make_plan(seed, options.focus);
  if (options.is_told) {
    std::printf("%s", simulation::as_text(plan).c_str());
  }
  const Result result =
      run_plan(plan, options.compares, options.is_told ? print : Log{}, options.files);
  for (const auto& violation : result.violations) {
    print(name_of(seed, options) + ": " + violation);
  }
  keep(plan, options);
  simulation::tell_reached(options.reached, std::to_string(seed));
  return {.histories = 1,
          .faults = result.faults,
          .broken = result.violations.empty() ? 0U : 1U,
          .had_damages = plan.damages > 0};
}

/// The same, and the smallest history that still breaks a promise. In children: it may end them.
Sum run_and_shrink(std::uint64_t seed, const Options& options) {
  const auto who = who_is_at_work(options);
  const auto run = [&](const Plan& plan, const Log& log) {
    return run_in_child(
        [&] {
          const auto violations = run_plan(plan, options.compares, log).violations;
          for (std::size_t i = 0; log && i < violations.size(); ++i) {
            log(name_of(seed, options) + ": " + violations[i]);
          }
          return Sum{1, 0, violations.empty() ? 0U : 1U};
        },
        who);
  };
  const Sum sum = run_in_child([&] { return run_seed(seed, options); }, who);
  if (sum.broken > 0) {
    const Plan least =
        simulation::shrink(simulation::make_plan(seed, options.focus),
                           [&](const Plan& less) { return run(less, {}).broken > 0; });
    print("\nThe smallest history that breaks a promise:\n" + simulation::as_text(least));
    keep(least, options);
    (void)run(least, print);
  }
  return sum;
}

/// Run every `jobs`-th seed from `first` on, in children.
Sum run_seeds(std::uint64_t first, const Options& options) {
  constexpr std::uint64_t seeds_of_a_child = 500;
  const auto begin = std::chrono::steady_clock::now();
  const auto is_late = [&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return options.seconds > 0 && passed.count() > options.seconds;
  };
  const auto jobs = static_cast<std::uint64_t>(options.jobs);
  Sum all;
  std::uint64_t done = first - options.from;
  while (done < options.seeds && !is_late() && (all.broken == 0 || options.goes_on)) {
    const Sum some = run_in_child(
        [&] {
          Sum sum;
          for (std::uint64_t i = 0; i < seeds_of_a_child && done + i * jobs < options.seeds; ++i) {
            const std::uint64_t seed = options.from + done + i * jobs;
            *seed_at_work() = seed;
            if (!is_chosen(std::to_string(seed), options)) {
              continue;
            }
            const Sum one =
                options.shrinks ? run_and_shrink(seed, options) : run_seed(seed, options);
            sum.histories += one.histories;
            sum.faults += one.faults;
            sum.broken += one.broken;
            if (is_late() || (sum.broken > 0 && !options.goes_on) || one.had_damages) {
              break;
            }
          }
          return sum;
        },
        who_is_at_work(options));
    done = *seed_at_work() - options.from + jobs;
    all.histories += some.histories;
    all.faults += some.faults;
    all.broken += some.broken;
  }
  return all;
}

int run_all(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    stop("no pipe");
  }
  for (int job = 0; job < options.jobs; ++job) {
    std::fflush(stdout);
    if (fork() == 0) {
      const Sum sum = run_seeds(options.from + static_cast<std::uint64_t>(job), options);
      (void)!write(ends[1], &sum, sizeof(sum));
      leave();
    }
  }
  close(ends[1]);
  Sum all;
  Sum one;
  int answers = 0;
  while (read(ends[0], &one, sizeof(one)) == sizeof(one)) {
    ++answers;
    all.histories += one.histories;
    all.faults += one.faults;
    all.broken += one.broken;
  }
  while (wait(nullptr) > 0) {
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  std::printf("%llu histories with %lld faults in %.1f s: %llu broken\n",
              static_cast<unsigned long long>(all.histories), static_cast<long long>(all.faults),
              passed.count(), static_cast<unsigned long long>(all.broken));
  return all.broken == 0 && answers == options.jobs ? 0 : 1;
}

/// Prints for each planted bug how many histories it lives, or that only the sweep finds it.
int try_bugs(Options options) {
  options.seeds = std::min<std::uint64_t>(options.seeds, 10000);
  options.one_in = 5;
  bool are_all_found = true;
  for (std::size_t i = 1; i < iocomp::bug_names.size(); ++i) {
    std::uint64_t seed = options.from;
    const std::uint64_t end = options.from + options.seeds;
    bool is_found = false;
    while (!is_found && seed < end) {
      constexpr std::uint64_t seeds_of_a_child = 100;
      const Sum sum = run_in_child(
          [&] {
            std::fclose(stdout);
            plant(static_cast<iocomp::Bug>(i));
            Sum some;
            for (; some.broken == 0 && !some.had_damages && some.histories < seeds_of_a_child;
                 ++some.histories) {
              *seed_at_work() = seed + some.histories;
              const Plan plan = simulation::make_plan(*seed_at_work(), Focus::any);
              some.broken = run_plan(plan, false).violations.empty() ? 0 : 1;
              some.had_damages = plan.damages > 0;
            }
            return some;
          },
          who_is_at_work(options));
      is_found = sum.broken > 0;
      seed = sum.has_died ? *seed_at_work() + 1 : seed + sum.histories;
    }
    plant(is_found ? iocomp::Bug::none : static_cast<iocomp::Bug>(i));
    const bool needs_sweep = !is_found && run_sweep(options, [](const std::string&) {}) > 0;
    are_all_found = are_all_found && (is_found || needs_sweep);
    std::printf("%-26s %s\n", std::string{iocomp::bug_names[i]}.c_str(),
                is_found      ? std::to_string(seed - options.from).c_str()
                : needs_sweep ? "by the sweep"
                              : "not found");
    std::fflush(stdout);
  }
  return are_all_found ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  without_random_addresses(words);
  // Each history takes the memory that the one before has freed, without the system.
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
  __libc_single_threaded = 0;           // simulated threads are threads for the C++ library
  const Options options = read_options(count, words);
  if (options.is_told || options.shrinks) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was told before a process died
  }
  for (const char* name : {"posix", "pnetcdf", "hdf5", "netcdf"}) {
    (void)iocomp::formats::format(name);
    (void)iocomp::formats::source_version(name);
  }
  keep_table_of_netcdf();
  if (options.tries_bugs) {
    (void)bug_named("none");
    return try_bugs(options);
  }
  plant(options.bug);
  if (!options.kept.empty()) {
    return run_kept(options);
  }
  if (options.sweeps) {
    return run_sweep(options, print);
  }
  return run_all(options);
}
