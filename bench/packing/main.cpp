// SPDX-License-Identifier: BSD-3-Clause
// The speed at which boxes are packed, and runs scattered to where they lie in a file, beside
// memcpy of as many bytes: of a block of doubles, its halo left out, in an array of three
// dimensions.
//   packing --threads N: how many times as fast a crew of N threads does it as one thread, beside
//     the same of memcpy, which is what the machine's memory gives.
//   packing --idle N: what N threads that sleep cost a computation on the same hardware thread.
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
#include "array/region.h"
#include "array/scatter.h"
#include "base/clock.h"
#include "base/crew.h"
#include "base/huge_memory.h"

namespace {

using namespace iocomp;

constexpr std::int64_t elements = std::int64_t{1} << 24;  // 128 MiB
constexpr int rounds = 7;

// The CPU time of this thread: others may run on the processor meanwhile.
double seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// A block of `row` elements in its fastest dimension, with one element of halo on each side.
void measure(std::int64_t row) {
  const std::int64_t columns = 64;
  const array::Extents count{elements / columns / row, columns, row};
  const array::Shape shape{3, {count[0] + 2, count[1] + 2, count[2] + 2}};
  const array::Box box{3, {1, 1, 1}, count};
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(double);
  const auto all = static_cast<std::size_t>(array::elements(shape)) * sizeof(double);
  const HugeMemory strided{all, "a benchmark"};
  const HugeMemory packed{bytes, "a benchmark"};
  const HugeMemory copied{bytes, "a benchmark"};
  std::ranges::fill(strided.bytes(), std::byte{1});
  std::ranges::fill(packed.bytes(), std::byte{2});
  std::ranges::fill(copied.bytes(), std::byte{3});
  std::vector<double> packing;
  std::vector<double> scattering;
  std::vector<double> swapping;
  for (int round = 0; round < rounds; ++round) {
    const double plain =
        seconds_of([&] { std::memcpy(copied.bytes().data(), strided.bytes().data(), bytes); });
    packing.push_back(seconds_of([&] {
                        array::pack({shape, box}, sizeof(double), strided.bytes().data(), 0,
                                    elements, packed.bytes().data());
                      }) /
                      plain);
    const auto scatter = [&](bool swaps) {
      const array::Region region{box};
      array::scatter({shape, region, 0, elements, sizeof(double), packed.bytes().data()},
                     swaps ? sizeof(double) : 0, strided.bytes().data(), 0);
    };
    scattering.push_back(seconds_of([&] { scatter(false); }) / plain);
    swapping.push_back(seconds_of([&] { scatter(true); }) / plain);
  }
  std::printf("%6lld %8.2f %8.2f %8.2f\n", static_cast<long long>(row), median(packing),
              median(scattering), median(swapping));
}

// Wall time, which threads are for: meant for idle cores.
double wall_seconds_of(const std::function<void()>& work) {
  const double begin = now_seconds();
  work();
  return now_seconds() - begin;
}

// The time for all elements by a crew, as the library's writers work, or by one thread.
using Part = std::function<void(std::int64_t first, std::int64_t number)>;
double seconds_with(Crew* crew, std::span<const std::byte> memory, const Part& work) {
  constexpr std::size_t element = sizeof(double);
  return wall_seconds_of([&] {
    share(crew, memory, element, [&](std::size_t begin, std::size_t end) {
      work(static_cast<std::int64_t>(begin / element),
           static_cast<std::int64_t>((end - begin) / element));
    });
  });
}

std::string list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return '[' + text + ']';
}

// Prints `1 thread ÷ N threads` of all rounds: median, least and most.
void measure_threads(std::int64_t row, Crew& crew, bool is_json) {
  const std::int64_t columns = 64;
  const array::Extents count{elements / columns / row, columns, row};
  const array::Shape shape{3, {count[0] + 2, count[1] + 2, count[2] + 2}};
  const array::Box box{3, {1, 1, 1}, count};
  const array::Region region{box};
  const HugeMemory strided{static_cast<std::size_t>(array::elements(shape)) * sizeof(double),
                           "a benchmark"};
  const HugeMemory packed{static_cast<std::size_t>(elements) * sizeof(double), "a benchmark"};
  std::ranges::fill(strided.bytes(), std::byte{1});
  std::ranges::fill(packed.bytes(), std::byte{2});
  const auto pack = [&](std::int64_t first, std::int64_t number) {
    array::pack({shape, box}, sizeof(double), strided.bytes().data(), first, number,
                packed.bytes().data() + first * static_cast<std::int64_t>(sizeof(double)));
  };
  const auto scatter = [&](std::int64_t first, std::int64_t number) {
    array::scatter({shape, region, first, number, sizeof(double),
                    packed.bytes().data() + first * static_cast<std::int64_t>(sizeof(double))},
                   0, strided.bytes().data(), 0);
  };
  const auto copy = [&](std::int64_t first, std::int64_t number) {
    const auto begin = static_cast<std::size_t>(first) * sizeof(double);
    std::memcpy(strided.bytes().data() + begin, packed.bytes().data() + begin,
                static_cast<std::size_t>(number) * sizeof(double));
  };
  std::printf(is_json ? "\"%lld\": {" : "%6lld", static_cast<long long>(row));
  const char* separator = "";
  for (const auto& [name, work] : {std::pair<const char*, Part>{"pack", pack},
                                   std::pair<const char*, Part>{"scatter", scatter},
                                   std::pair<const char*, Part>{"memcpy", copy}}) {
    std::vector<double> gains;
    for (int round = 0; round < rounds; ++round) {
      const double one = seconds_with(nullptr, packed.bytes(), work);
      gains.push_back(one / seconds_with(&crew, packed.bytes(), work));
    }
    if (is_json) {
      std::printf("%s\"%s\": %s", separator, name, list(gains).c_str());
      separator = ", ";
    } else {
      std::printf("  %5.2f (%.2f to %.2f)", median(gains), std::ranges::min(gains),
                  std::ranges::max(gains));
    }
  }
  std::fputs(is_json ? "}" : "\n", stdout);
}

int compare_threads(int threads, bool is_json) {
  Crew::Terms terms;
  terms.threads = threads;
  Crew crew{terms};
  if (is_json) {
    std::printf("{\"gains\": {");
  } else {
    std::printf(
        "time of 1 thread / time of %d threads\n   run  pack                  scatter              "
        " memcpy\n",
        threads);
  }
  const char* separator = "";
  for (const std::int64_t row : {8, 32, 256, 2048}) {
    std::printf("%s", is_json ? separator : "");
    measure_threads(row, crew, is_json);
    separator = ", ";
  }
  std::fputs(is_json ? "}}\n" : "", stdout);
  return 0;
}

// Arithmetic in the caches, for some tenths of a second.
double compute_seconds(std::span<double> values) {
  constexpr int sweeps = 400;
  return wall_seconds_of([&] {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (std::size_t i = 1; i + 1 < values.size(); ++i) {
        values[i] = 0.25 * values[i - 1] + 0.5 * values[i] + 0.25 * values[i + 1];
      }
    }
  });
}

// With threads that have had a request and sleep ÷ without, of each round; all on one CPU.
int measure_idle(int threads, bool is_json) {
  constexpr int idle_rounds = 15;
  constexpr std::size_t request = std::size_t{64} << 20;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &here);
  if (sched_setaffinity(0, sizeof here, &here) != 0) {
    std::perror("sched_setaffinity");
    return 1;
  }
  std::vector<double> values(std::size_t{1} << 16, 1);
  std::vector<double> costs;
  for (int round = 0; round < idle_rounds; ++round) {
    double with = 0;
    const auto measure_with = [&] {
      Crew::Terms terms;
      terms.threads = threads + 1;
      Crew crew{terms};
      const HugeMemory memory{request, "a benchmark"};
      share(&crew, memory.bytes(), 1, [&](std::size_t begin, std::size_t end) {
        std::ranges::fill(memory.bytes().subspan(begin, end - begin), std::byte{1});
      });
      with = compute_seconds(values);
    };
    if (round % 2 == 0) {
      measure_with();
    }
    const double without = compute_seconds(values);
    if (round % 2 == 1) {
      measure_with();
    }
    costs.push_back(with / without);
  }
  if (is_json) {
    std::printf("{\"costs\": %s}\n", list(costs).c_str());
  } else {
    std::printf("time beside %d sleeping threads / time alone: %.4f (%.4f to %.4f)\n", threads,
                median(costs), std::ranges::min(costs), std::ranges::max(costs));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const std::string_view what{argv[1]};
    const int number = argc > 2 ? std::atoi(argv[2]) : 0;
    const bool is_json = argc == 5 && std::string_view{argv[3]} == "--json";
    if ((argc != 3 && !is_json) || (what != "--threads" && what != "--idle") ||
        number < (what == "--idle" ? 1 : 2)) {
      std::fprintf(
          stderr,
          "packing [--threads N | --idle N [--json FILE]], N from 2 on, of --idle from 1\n");
      return 2;
    }
    if (is_json && std::freopen(argv[4], "w", stdout) == nullptr) {
      std::perror(argv[4]);
      return 2;
    }
    return what == "--idle" ? measure_idle(number, is_json) : compare_threads(number, is_json);
  }
  std::printf("times memcpy of the same 128 MiB, median of %d\n   run     pack  scatter  swapped\n",
              rounds);
  for (const std::int64_t row : {8, 32, 64, 128, 256, 512, 2048, 8192}) {
    measure(row);
  }
}
