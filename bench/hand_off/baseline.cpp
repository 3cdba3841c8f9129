// SPDX-License-Identifier: BSD-3-Clause
#include "hand_off/baseline.h"

#include <mpi.h>

#include <chrono>
#include <climits>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common/huge_memory.h"
#include "common/ranks.h"
#include "common/samples.h"
#include "common/stopwatch.h"

namespace iocomp::bench {
namespace {

using apps::now_seconds;

nlohmann::json measure_memcpy(const HandOffOptions& options, std::size_t size, std::byte* from,
                              std::byte* to) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < options.repeats(size); ++i) {
    pause(options);
    const double begin = now_seconds();
    std::memcpy(to, from, size);
    __asm__ volatile("" : : "r"(to) : "memory");
    seconds.push_back(now_seconds() - begin);
  }
  return distribution(seconds);
}

void receive_all(const HandOffOptions& options, std::size_t size, std::byte* to) {
  for (std::size_t i = 0; i <= options.repeats(size); ++i) {
    MPI_Recv(to, static_cast<int>(size), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

nlohmann::json send_all(const HandOffOptions& options, std::size_t size, const std::byte* from) {
  std::vector<double> inside;
  std::vector<double> complete;
  for (std::size_t i = 0; i <= options.repeats(size); ++i) {
    pause(options);
    MPI_Request request = MPI_REQUEST_NULL;
    const double begin = now_seconds();
    MPI_Isend(from, static_cast<int>(size), MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    const double returned = now_seconds();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (i == 0) continue;  // connections are made by the first
    inside.push_back(returned - begin);
    complete.push_back(now_seconds() - begin);
  }
  return {{"mpi_isend", distribution(inside)}, {"mpi_handed_over", distribution(complete)}};
}

}  // namespace

void pause(const HandOffOptions& options) {
  if (options.pause_seconds <= 0) return;
  std::this_thread::sleep_for(std::chrono::duration<double>(options.pause_seconds));
}

nlohmann::json measure_baseline(const HandOffOptions& options) {
  if (options.largest() > INT_MAX) throw std::runtime_error("--baseline: sizes below 2 GiB");
  const int rank = apps::rank_in(MPI_COMM_WORLD);
  const apps::HugeMemory own{options.largest()};
  nlohmann::json found;
  if (rank == 0) {
    const apps::HugeMemory other{options.largest()};
    for (const std::size_t size : options.sizes) {
      found[std::to_string(size)]["memcpy"] =
          measure_memcpy(options, size, own.begin(), other.begin());
    }
  }
  if (apps::size_of(MPI_COMM_WORLD) != 2) return found;
  for (const std::size_t size : options.sizes) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      found[std::to_string(size)].update(send_all(options, size, own.begin()));
    } else {
      receive_all(options, size, own.begin());
    }
  }
  return found;
}

}  // namespace iocomp::bench
