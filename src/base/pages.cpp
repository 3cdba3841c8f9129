// SPDX-License-Identifier: BSD-3-Clause
#include "base/pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>

#include "base/system_file.h"

namespace iocomp {
namespace {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t present = 0;  // bytes of it that have pages
  std::size_t huge = 0;     // of these, in huge pages
};

}  // namespace

std::size_t small_page_bytes(std::span<const std::byte> range) {
  const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
  const std::uintptr_t end = begin + range.size();
  std::istringstream maps{read_system_file("/proc/self/smaps")};
  std::string line;
  Mapping mapping;
  std::size_t small = 0;
  while (std::getline(maps, line)) {
    unsigned long first = 0;
    unsigned long last = 0;
    unsigned long kib = 0;
    char sharing = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*c%*c%*c%c", &first, &last, &sharing) == 3) {
      mapping = sharing == 'p' ? Mapping{first, last, 0, 0} : Mapping{};
    } else if (std::sscanf(line.c_str(), "Rss: %lu kB", &kib) == 1) {
      mapping.present = kib << 10U;
    } else if (std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kib) == 1) {
      mapping.huge = kib << 10U;
      if (mapping.begin < end && begin < mapping.end) {
        // The system does not tell which pages of a larger mapping are small. Count as many as can
        // be here.
        const std::size_t here = std::min(end, mapping.end) - std::max(begin, mapping.begin);
        small += std::min(here, mapping.present - std::min(mapping.present, mapping.huge));
      }
    }
  }
  return small;
}

bool shared_memory_has_huge_pages() {
  const std::string line = read_system_file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  const bool is_off =
      line.find("[never]") != std::string::npos || line.find("[deny]") != std::string::npos;
  return !line.empty() && !is_off;
}

}  // namespace iocomp
