// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory_domains.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp {
namespace {

constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;

/// A set of domains, as the system calls take it.
class DomainMask {
 public:
  explicit DomainMask(std::span<const int> domains)
      : words_(static_cast<std::size_t>(std::ranges::max(domains)) / word_bits + 1) {
    for (const int domain : domains) {
      const auto bit = static_cast<std::size_t>(domain);
      words_[bit / word_bits] |= 1UL << (bit % word_bits);
    }
  }
  explicit DomainMask(int domain) : DomainMask{std::span{&domain, 1}} {}
  [[nodiscard]] const unsigned long* words() const noexcept { return words_.data(); }
  /// The system looks at one bit less than it is told.
  [[nodiscard]] unsigned long bits() const noexcept { return words_.size() * word_bits + 1; }

 private:
  std::vector<unsigned long> words_;
};

[[noreturn]] void refused(const std::string& what) {
  throw Error{ErrorCode::unsupported, what + ": " + std::strerror(errno)};
}

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// The domains of the pages at `count` addresses, one each `step` bytes.
std::vector<int> domains_at(std::uintptr_t begin, std::size_t step, std::size_t count) {
  const std::size_t page = page_bytes();
  std::vector<void*> addresses;
  addresses.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the system asks for addresses
    addresses.push_back(reinterpret_cast<void*>((begin + i * step) / page * page));
  }
  std::vector<int> domains(count);
  if (count > 0 &&
      syscall(SYS_move_pages, 0, count, addresses.data(), nullptr, domains.data(), 0) != 0) {
    refused("the system does not tell on which NUMA domain memory lies (move_pages)");
  }
  std::ranges::replace_if(domains, [](int domain) { return domain < 0; }, -1);
  return domains;
}

}  // namespace

void prefer_domain(std::span<const std::byte> range, int domain) {
  const DomainMask mask{domain};
  if (syscall(SYS_mbind, range.data(), range.size(), MPOL_PREFERRED, mask.words(), mask.bits(),
              0) != 0) {
    refused("the system does not place memory on NUMA domain " + std::to_string(domain) +
            " (mbind)");
  }
}

void spread_over(std::span<const std::byte> range, std::span<const int> domains) {
  const DomainMask mask{domains};
  if (syscall(SYS_mbind, range.data(), range.size(), MPOL_INTERLEAVE, mask.words(), mask.bits(),
              0) != 0) {
    refused("the system does not spread memory over NUMA domains (mbind)");
  }
}

std::vector<int> domains_of_pages(std::span<const std::byte> range) {
  const std::size_t page = page_bytes();
  const auto begin = reinterpret_cast<std::uintptr_t>(range.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(range.data()) + range.size();
  const std::size_t pages = range.empty() ? 0 : (end - begin + page - 1) / page;
  return domains_at(begin, page, pages);
}

std::vector<int> domains_by_step(std::span<const std::byte> range, std::size_t step) {
  for (std::size_t at = 0; at < range.size(); at += step) {
    (void)*static_cast<const volatile std::byte*>(range.data() + at);
  }
  return domains_at(reinterpret_cast<std::uintptr_t>(range.data()), step,
                    (range.size() + step - 1) / step);
}

DomainPreference::DomainPreference(int domain) {
  const DomainMask mask{domain};
  if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.words(), mask.bits()) != 0) {
    refused("the system does not let a thread prefer NUMA domain " + std::to_string(domain) +
            " (set_mempolicy)");
  }
}

DomainPreference::~DomainPreference() { syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL); }

}  // namespace iocomp
