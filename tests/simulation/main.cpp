// Histories of the library under faults: docs/developers/simulation.md.
#include <sys/personality.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "formats/registry.h"
#include "history.h"
#include "plan.h"

namespace {

struct Options {
  std::uint64_t seeds = 1000;
  std::uint64_t from = 1;
  double seconds = 0;
  simulation::Focus focus = simulation::Focus::any;
  bool is_told = false;
  bool goes_on = false;
};

void stop(const std::string& why) {
  std::fprintf(stderr,
               "simulation: %s\nusage: simulation [--seeds N] [--from S] [--seconds T] "
               "[--focus any|crash|disk|network] [--log] [--go-on]\n",
               why.c_str());
  std::exit(2);
}

Options read_options(int count, char** words) {
  static const std::map<std::string_view, simulation::Focus> focuses{
      {"any", simulation::Focus::any},
      {"crash", simulation::Focus::crash},
      {"disk", simulation::Focus::disk},
      {"network", simulation::Focus::network}};
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--log") {
      options.is_told = true;
      continue;
    }
    if (word == "--go-on") {
      options.goes_on = true;
      continue;
    }
    if (i + 1 == count) {
      stop("a value is missing after " + std::string{word});
    }
    const std::string value = words[++i];
    if (word == "--seeds") {
      options.seeds = std::stoull(value);
    } else if (word == "--from") {
      options.from = std::stoull(value);
    } else if (word == "--seconds") {
      options.seconds = std::stod(value);
    } else if (word == "--focus" && focuses.contains(value)) {
      options.focus = focuses.at(value);
    } else {
      stop("there is no " + std::string{word} + ' ' + value);
    }
  }
  return options;
}

// Where memory lies must not change what happens.
void without_random_addresses(char** words) {
  const int now = personality(0xffffffff);
  if (now != -1 && (now & ADDR_NO_RANDOMIZE) == 0 &&
      personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) != -1) {
    execv("/proc/self/exe", words);
  }
}

}  // namespace

int main(int count, char** words) {
  without_random_addresses(words);
  __libc_single_threaded = 0;  // simulated threads are threads for the C++ library
  const Options options = read_options(count, words);
  for (const char* name : {"posix", "pnetcdf"}) {
    (void)iocomp::formats::format(name);
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::int64_t faults = 0;
  std::uint64_t histories = 0;
  std::uint64_t turns = 0;
  std::uint64_t broken = 0;
  for (std::uint64_t seed = options.from; seed < options.from + options.seeds; ++seed) {
    const auto plan = simulation::make_plan(seed, options.focus);
    simulation::Result result;
    if (options.is_told) {
      std::printf("%s", simulation::describe(plan).c_str());
      result = simulation::run_history(
          plan, [](const std::string& what) { std::printf("%s\n", what.c_str()); });
    } else {
      result = simulation::run_history(plan);
    }
    ++histories;
    faults += result.faults;
    turns += result.turns;
    for (const auto& violation : result.violations) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), violation.c_str());
    }
    if (!result.violations.empty()) {
      ++broken;
      if (!options.goes_on) {
        break;
      }
    }
    if (options.seconds > 0 && elapsed() > options.seconds) {
      break;
    }
  }
  std::printf("%llu histories with %lld faults, %llu broken; %.1f s, %llu turns\n",
              static_cast<unsigned long long>(histories), static_cast<long long>(faults),
              static_cast<unsigned long long>(broken), elapsed(),
              static_cast<unsigned long long>(turns));
  return broken == 0 ? 0 : 1;
}
