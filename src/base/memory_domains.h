// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace iocomp {

// NUMA domains by their numbers in the operating system (topology::Node::numa_numbers). Where a
// domain has no memory left, the system takes pages of another one: `domains_of_pages` tells.

/// Pages of the range come from this domain when they are touched for the first time.
/// @pre range.data() is the beginning of a page.
/// @throws Error{unsupported} with the operating system's text; containers may forbid it.
void prefer_domain(std::span<const std::byte> range, int domain);

/// Pages of the range come from these domains in turn when they are touched for the first time:
/// huge pages where the range has them.
/// @pre range.data() is the beginning of a page; there is a domain.
/// @throws Error{unsupported} with the operating system's text; containers may forbid it.
void spread_over(std::span<const std::byte> range, std::span<const int> domains);

/// The domain of each page of the range; -1 for a page that nobody has touched yet. Pages of a
/// mapped file are pages of the page cache.
/// @throws Error{unsupported} with the operating system's text.
[[nodiscard]] std::vector<int> domains_of_pages(std::span<const std::byte> range);

/// The domain of the first byte of each `step` bytes of the range; -1: unknown. Reads one byte of
/// each, so that this process has their pages.
/// @throws Error{unsupported} with the operating system's text.
[[nodiscard]] std::vector<int> domains_by_step(std::span<const std::byte> range, std::size_t step);

/// While it lives, pages that the calling thread is the first to touch come from a domain. So do
/// those of the page cache that it is the first to write or read. One at a time per thread.
class DomainPreference {
 public:
  /// @throws Error{unsupported} with the operating system's text.
  explicit DomainPreference(int domain);
  DomainPreference(const DomainPreference&) = delete;
  DomainPreference& operator=(const DomainPreference&) = delete;
  /// Back to the system's way: pages come from the domain of the thread.
  ~DomainPreference();
};

}  // namespace iocomp
