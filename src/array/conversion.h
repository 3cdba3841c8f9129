// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/element_type.h"

namespace iocomp::array {

/// The packing of numbers into integers as in the CF conventions (1.11, section 8.1): number =
/// stored * scale + offset. NaN is stored as the fill value.
struct Packing {
  double scale = 1;
  double offset = 0;
  std::optional<std::int64_t> fill = std::nullopt;  ///< as stored; without it NaN cannot be
  std::vector<std::int64_t> missing{};              ///< other stored values that mean NaN
  friend bool operator==(const Packing&, const Packing&) = default;
};

/// Makes values of one type from those of another. Floating-point numbers are rounded to nearest.
/// All else must be exact: an integer must be in the range of its new type, and a number that
/// becomes an integer must be one. NaN and infinities stay what they are among floating-point
/// types; a finite number does not become infinite.
class Conversion {
 public:
  /// @param packing  if numbers are packed into integers, or integers are unpacked to
  /// floating-point numbers.
  /// @pre exists(from, to).
  Conversion(ElementType from, ElementType to, const std::optional<Packing>& packing = {});

  /// True among real numbers, and from one complex type to the other.
  [[nodiscard]] static bool exists(ElementType from, ElementType to) noexcept;

  [[nodiscard]] ElementType from() const noexcept { return from_; }
  [[nodiscard]] ElementType to() const noexcept { return to_; }
  /// The first of these values that cannot be made one of the other type; nothing where all can.
  [[nodiscard]] std::optional<std::int64_t> first_unfit(std::span<const std::byte> values) const;
  /// The reason why that value cannot be stored: "1e+300, which float32 cannot hold".
  [[nodiscard]] std::string story(const std::byte* value) const;
  /// @param to  room for as many values of the other type. What is unfit becomes anything.
  void convert(std::span<const std::byte> values, std::byte* to) const noexcept;

 private:
  using Convert = void (*)(const Packing&, const std::byte* from, std::size_t numbers,
                           std::byte* to) noexcept;
  using IsUnfit = bool (*)(const Packing&, const std::byte* from, std::size_t numbers) noexcept;

  ElementType from_;
  ElementType to_;
  bool packs_;
  Packing packing_;
  std::size_t parts_;       // numbers of an element
  std::size_t from_bytes_;  // of a number
  Convert convert_ = nullptr;
  IsUnfit has_unfit_ = nullptr;
};

}  // namespace iocomp::array
