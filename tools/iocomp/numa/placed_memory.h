// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/huge_memory.h"

namespace iocomp::command {

/// Touched memory that was asked to lie on a NUMA domain (its number in the operating system);
/// anywhere, without one.
class PlacedMemory {
 public:
  /// @throws Error{unsupported} where the system does not place memory.
  PlacedMemory(std::size_t bytes, std::optional<int> domain);

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return memory_.bytes(); }
  /// Describes the memory that lies elsewhere; empty if all is in the domain that was asked for.
  [[nodiscard]] std::string misplaced() const;

 private:
  HugeMemory memory_;
  std::optional<int> domain_;
};

/// "3 of 4096 pages of the buffer lie on domain 1 instead of 0", or nothing.
/// @param range   touched memory, or a file that is mapped.
/// @param domain  nothing: all is well wherever it is.
[[nodiscard]] std::string misplaced_pages(std::span<const std::byte> range,
                                          std::optional<int> domain, const std::string& what);

}  // namespace iocomp::command
