// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numa/placed_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "base/memory_domains.h"

namespace iocomp::command {

PlacedMemory::PlacedMemory(std::size_t bytes, std::optional<int> domain)
    : memory_{bytes, "a buffer"}, domain_{domain} {
  if (domain_) {
    prefer_domain(memory_.bytes(), *domain_);
  }
  std::memset(memory_.bytes().data(), 1, bytes);
}

std::string PlacedMemory::misplaced() const {
  return misplaced_pages(memory_.bytes(), domain_, "the buffer");
}

std::string misplaced_pages(std::span<const std::byte> range, std::optional<int> domain,
                            const std::string& what) {
  if (!domain) {
    return {};
  }
  const auto found = domains_of_pages(range);
  const auto elsewhere = [&](int one) { return one != *domain; };
  const auto first = std::ranges::find_if(found, elsewhere);
  return first == found.end() ? std::string{}
                              : fmt::format("{} of {} pages of {} lie on domain {} instead of {}",
                                            std::ranges::count_if(found, elsewhere), found.size(),
                                            what, *first, *domain);
}

}  // namespace iocomp::command
