// SPDX-License-Identifier: BSD-3-Clause
// How fast boxes are packed, and runs scattered to where they lie in a file, beside memcpy of as
// many bytes: of a block of doubles, its halo left out, in an array of three dimensions.
// packing --threads N: how many times as fast N threads do it, each a part, as one.
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <latch>
#include <string_view>
#include <thread>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
#include "array/region.h"
#include "array/scatter.h"
#include "base/huge_memory.h"

namespace {

using namespace iocomp;

constexpr std::int64_t elements = std::int64_t{1} << 24;  // 128 MiB
constexpr int rounds = 7;

// Of the processor: others may run on it meanwhile.
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
      array::scatter({shape, region, 0, elements, sizeof(double), packed.bytes().data()}, swaps,
                     strided.bytes().data(), 0);
    };
    scattering.push_back(seconds_of([&] { scatter(false); }) / plain);
    swapping.push_back(seconds_of([&] { scatter(true); }) / plain);
  }
  std::printf("%6lld %8.2f %8.2f %8.2f\n", static_cast<long long>(row), median(packing),
              median(scattering), median(swapping));
}

// The most processor time of any of the threads, each with its part of the elements: others may run
// on the processors meanwhile.
double seconds_with(int threads, const std::function<void(std::int64_t, std::int64_t)>& work) {
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  std::latch all_are_there{threads};
  const auto part = [&](int thread) {
    all_are_there.arrive_and_wait();
    seconds[static_cast<std::size_t>(thread)] = seconds_of([&] {
      const std::int64_t first = elements * thread / threads;
      work(first, elements * (thread + 1) / threads - first);
    });
  };
  {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) {
      others.emplace_back(part, thread);
    }
    part(0);
  }
  return std::ranges::max(seconds);
}

// Of `1 thread ÷ N threads` of each round: median, least and most.
void measure_threads(std::int64_t row, int threads) {
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
                   false, strided.bytes().data(), 0);
  };
  std::printf("%6lld", static_cast<long long>(row));
  for (const auto& work : {std::function<void(std::int64_t, std::int64_t)>{pack},
                           std::function<void(std::int64_t, std::int64_t)>{scatter}}) {
    std::vector<double> gains;
    for (int round = 0; round < rounds; ++round) {
      const double one = seconds_with(1, work);
      gains.push_back(one / seconds_with(threads, work));
    }
    std::printf("  %5.2f (%.2f to %.2f)", median(gains), std::ranges::min(gains),
                std::ranges::max(gains));
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view{argv[1]} == "--threads" && std::atoi(argv[2]) > 1) {
    std::printf(
        "processor time of 1 thread / most of any of %s threads\n   run  pack                  "
        "scatter\n",
        argv[2]);
    for (const std::int64_t row : {8, 32, 256, 2048}) {
      measure_threads(row, std::atoi(argv[2]));
    }
    return 0;
  }
  if (argc > 1) {
    std::fprintf(stderr, "packing [--threads N], N from 2 on\n");
    return 2;
  }
  std::printf("times memcpy of the same 128 MiB, median of %d\n   run     pack  scatter  swapped\n",
              rounds);
  for (const std::int64_t row : {8, 32, 64, 128, 256, 512, 2048, 8192}) {
    measure(row);
  }
}
