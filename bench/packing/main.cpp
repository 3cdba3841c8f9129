// How fast boxes are packed, and runs scattered to where they lie in a file, beside memcpy of as
// many bytes: of a block of doubles, its halo left out, in an array of three dimensions.
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
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

}  // namespace

int main() {
  std::printf("times memcpy of the same 128 MiB, median of %d\n   run     pack  scatter  swapped\n",
              rounds);
  for (const std::int64_t row : {8, 32, 64, 128, 256, 512, 2048, 8192}) {
    measure(row);
  }
}
