// SPDX-License-Identifier: BSD-3-Clause
// From which size of a request on is it better to go past the page cache?
// requests FOLDER [--busy] writes requests of one size by the engine, in turn through the cache and
// past it, into one or several files, until all is durable: GiB/s and processor time of both, and
// how many times as fast it is past the cache. --busy: another process writes there all the time.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/huge_memory.h"
#include "base/open_folder.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"

namespace {

using namespace iocomp;

constexpr int rounds = 7;
constexpr std::size_t kib = 1024;
constexpr std::size_t most_bytes = 256 * kib * kib;
constexpr std::size_t most_requests = 8192;
constexpr std::array sizes{4 * kib,      16 * kib,     64 * kib,     256 * kib,     512 * kib,
                           1 * kib* kib, 2 * kib* kib, 4 * kib* kib, 16 * kib* kib, 64 * kib* kib};

struct Cost {
  double gib_per_second = 0;
  double processor_seconds_per_gib = 0;
};

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void finish(disk::Engine& engine) {
  while (engine.outstanding() > 0) {
    engine.wait(std::chrono::seconds{1});
    for (const auto& done : engine.take_completed()) {
      Outcome{done.code, done.story}.throw_unless_ok();
    }
  }
}

// Writes and syncs all of the memory, divided among the files, in requests of `size`.
Cost write(const OpenFolder& folder, std::span<const std::byte> memory, std::size_t size, int files,
           bool direct) {
  disk::Options options;
  options.direct = direct ? disk::Direct::on : disk::Direct::off;
  options.request_bytes = size;
  const auto engine = disk::start_engine(options);
  std::vector<disk::Plan> writing(static_cast<std::size_t>(files));
  std::vector<disk::Plan> syncing(writing.size());
  for (std::size_t i = 0; i < writing.size(); ++i) {
    const std::string name = "requests-" + std::to_string(i);
    writing[i].file =
        std::make_shared<disk::OutputFile>(folder.create(name, O_RDWR), folder.text(name), options);
    syncing[i].file = writing[i].file;
    syncing[i].sync = true;
  }
  for (std::size_t begin = 0, i = 0; begin < memory.size(); begin += size, ++i) {
    auto& writes = writing[i % writing.size()].writes;
    writes.push_back(
        {static_cast<std::int64_t>(writes.size() * size), memory.subspan(begin, size)});
  }
  const double processor = processor_seconds();
  const double began = now_seconds();
  for (auto* const plans : {&writing, &syncing}) {
    for (auto& plan : *plans) {
      engine->submit(std::move(plan));
    }
    finish(*engine);
  }
  const double gib = static_cast<double>(memory.size()) / static_cast<double>(kib * kib * kib);
  const Cost cost{gib / (now_seconds() - began), (processor_seconds() - processor) / gib};
  for (int i = 0; i < files; ++i) {
    folder.unlink("requests-" + std::to_string(i));
  }
  return cost;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void compare(const OpenFolder& folder, std::span<const std::byte> memory, std::size_t size,
             int files) {
  std::array<std::vector<double>, 2> rates;
  std::array<std::vector<double>, 2> processor;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    for (const bool direct : {round % 2 == 0, round % 2 != 0}) {
      const Cost cost = write(folder, memory, size, files, direct);
      rates.at(direct ? 1 : 0).push_back(cost.gib_per_second);
      processor.at(direct ? 1 : 0).push_back(cost.processor_seconds_per_gib);
    }
    ratios.push_back(rates[1].back() / rates[0].back());
  }
  const auto [least, most] = std::ranges::minmax(ratios);
  std::printf("| %zu | %d | %.2f | %.2f | %.2f (%.2f to %.2f) | %.2f | %.2f |\n", size / kib, files,
              median(rates[0]), median(rates[1]), median(ratios), least, most, median(processor[0]),
              median(processor[1]));
  std::fflush(stdout);
}

// Writes without an end. @return the process that does it.
pid_t keep_busy(const OpenFolder& folder, std::span<const std::byte> memory) {
  const pid_t child = fork();
  if (child == 0) {
    while (true) {
      (void)write(folder.folder("busy"), memory, 4 * kib * kib, 1, true);
    }
  }
  return child;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || (argc > 2 && std::string{argv[2]} != "--busy")) {
    std::fprintf(stderr, "usage: requests FOLDER [--busy]\n");
    return 2;
  }
  const OpenFolder folder{std::string{argv[1]}};
  const HugeMemory memory{most_bytes, "a benchmark"};
  std::ranges::fill(memory.bytes(), std::byte{1});
  pid_t busy = 0;
  if (argc > 2) {
    if (const int error = folder.make_folder("busy"); error != 0) {
      throw Error{ErrorCode::storage_failure, "cannot make the folder busy"};
    }
    busy = keep_busy(folder, memory.bytes());
  }
  std::printf(
      "| request, KiB | files | cached, GiB/s | direct, GiB/s | direct ÷ cached | processor s per "
      "GiB, cached | direct |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const int files : {1, 4, 16}) {
    for (const std::size_t size : sizes) {
      compare(folder, memory.bytes().first(std::min(most_bytes, most_requests * size)), size,
              files);
    }
  }
  if (busy > 0) {
    kill(busy, SIGKILL);
    waitpid(busy, nullptr, 0);
    folder.remove("busy");
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "requests: %s\n", error.what());
  return 1;
}
