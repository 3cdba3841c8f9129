// SPDX-License-Identifier: BSD-3-Clause
#include "topology/binding.h"

#include <hwloc.h>
#include <hwloc/bitmap.h>
#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/number_ranges.h"

namespace iocomp::topology {

std::vector<int> allowed_cpus() {
  // Kernels may know more CPUs than a cpu_set_t has room for.
  for (int limit = CPU_SETSIZE; limit <= (1 << 20); limit *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set{
        CPU_ALLOC(static_cast<std::size_t>(limit)), [](cpu_set_t* raw) { CPU_FREE(raw); }};
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(limit));
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<int> cpus;
      for (int cpu = 0; cpu < limit; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) {
          cpus.push_back(cpu);
        }
      }
      return cpus;
    }
    if (errno != EINVAL) {  // EINVAL: the kernel knows more CPUs than that
      break;
    }
  }
  return {};
}

ThreadBinder::ThreadBinder() : topology_{nullptr, hwloc_topology_destroy} {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    throw Error{ErrorCode::unsupported, std::string{"hwloc cannot start: "} + std::strerror(errno)};
  }
  topology_.reset(raw);
  // Binding needs no objects but the machine.
  if (hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE) != 0 ||
      hwloc_topology_load(raw) != 0) {
    throw Error{ErrorCode::unsupported,
                std::string{"hwloc does not know this machine: "} + std::strerror(errno)};
  }
}

void ThreadBinder::bind_this_thread(const std::vector<int>& cpus) const {
  const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> set{hwloc_bitmap_alloc(),
                                                                      hwloc_bitmap_free};
  for (const int cpu : cpus) {
    hwloc_bitmap_set(set.get(), static_cast<unsigned>(cpu));
  }
  errno = 0;
  const int answer = hwloc_set_cpubind(topology_.get(), set.get(), HWLOC_CPUBIND_THREAD);
  const int error = errno;
  const auto allowed = allowed_cpus();
  if (allowed != cpus) {
    throw Error{ErrorCode::unsupported,
                "a thread was to run on CPU " + number_ranges(cpus) + " alone, and may run on " +
                    number_ranges(allowed) +
                    (answer != 0 ? std::string{": "} + std::strerror(error) : std::string{})};
  }
}

}  // namespace iocomp::topology
