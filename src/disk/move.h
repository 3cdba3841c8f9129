// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "disk/engine.h"
#include "disk/output_file.h"

namespace iocomp::disk {

[[nodiscard]] bool overlap(std::span<const std::byte> one,
                           std::span<const std::byte> other) noexcept;

/// Memory that is to be read no more, and where a copy of it is read instead.
class Move {
 public:
  /// @param copied  so many bytes at the front of `to` are there already.
  /// @param tally  of all that is moved.
  Move(std::span<const std::byte> from, std::byte* to, std::size_t copied, Moved& tally) noexcept
      : from_{from}, to_{to}, copied_{copied}, tally_{tally} {}

  [[nodiscard]] bool covers(std::span<const std::byte> bytes) const noexcept;
  /// The place of bytes that are covered.
  [[nodiscard]] std::byte* place_of(std::span<const std::byte> bytes) const noexcept {
    return to_ + (bytes.data() - from_.data());
  }
  /// Copy bytes that are covered, and have them read there. @return true if they are.
  bool apply(std::span<const std::byte>& bytes) const;
  /// The same with what nobody has begun of a plan: the rest of one write, and later ones.
  bool apply(Remaining& remaining, std::span<Write> later) const;

 private:
  std::span<const std::byte> from_;
  std::byte* to_;
  std::size_t copied_;
  Moved& tally_;
};

/// True if the part of a plan that is not begun reads from this memory.
[[nodiscard]] bool reads(const Remaining& remaining, std::span<const Write> later,
                         std::span<const std::byte> memory);

}  // namespace iocomp::disk
