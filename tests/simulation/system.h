// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace simulation {

/// The properties of the system that a job runs on.
struct System {
  bool pulls = true;                    ///< a process may read the memory of another
  bool opens_others = true;             ///< ... and what another has open, through /proc
  bool has_memfd = true;                ///< else shared memory has names in /dev/shm
  bool has_process_descriptors = true;  ///< else a death is seen by process numbers
  bool has_processors = false;          ///< each process has one for itself
  std::int64_t shared_bytes = INT64_MAX;
  enum class Rings : std::uint8_t { none, old, full };
  Rings rings = Rings::none;      ///< io_uring; `old` cannot wait for a futex
  bool threads_call_mpi = false;  ///< beside the program
  bool ends_threads = false;      ///< the program: each call comes from a thread that ends with it
  bool operator==(const System&) const = default;
};

}  // namespace simulation
