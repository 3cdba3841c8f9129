// SPDX-License-Identifier: BSD-3-Clause
#include "array/checksum.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "array/byte_order.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "array/runs.h"

static_assert(XXH_VERSION_NUMBER >= 800, "iocomp needs xxHash 0.8: before it, XXH3 changed");

namespace iocomp::array {
namespace {

constexpr std::size_t hex_digits = 16;

}  // namespace

struct Checksum::State {
  XXH3_state_t hash;
};

Checksum::Checksum(ElementType type, std::endian order)
    : state_{std::make_unique<State>()},
      swapped_bytes_{order == std::endian::little ? 0 : number_bytes(type)} {
  XXH3_64bits_reset(&state_->hash);
}

Checksum::~Checksum() = default;

void Checksum::add(std::span<const std::byte> elements) {
  if (swapped_bytes_ <= 1) {
    XXH3_64bits_update(&state_->hash, elements.data(), elements.size());
    return;
  }
  std::array<std::byte, std::size_t{16} << 10> swapped;
  while (!elements.empty()) {
    const auto part = elements.first(std::min(elements.size(), swapped.size()));
    const auto to = std::span{swapped}.first(part.size());
    copy_swapped(part, to, swapped_bytes_);
    XXH3_64bits_update(&state_->hash, to.data(), to.size());
    elements = elements.subspan(part.size());
  }
}

std::uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->hash); }

std::uint64_t checksum(ElementType type, const MemoryBox& memory, const std::byte* local) {
  const std::size_t element = size_bytes(type);
  Checksum sum{type};
  RunCursor cursor{memory.shape, memory.box, 0, elements(memory.box)};
  Run run;
  while (cursor.next(run)) {
    sum.add({local + static_cast<std::size_t>(run.index) * element,
             static_cast<std::size_t>(run.elements) * element});
  }
  return sum.value();
}

std::string hex(std::uint64_t checksum) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(hex_digits, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, checksum >>= 4U) {
    *digit = digits[checksum & 15U];
  }
  return text;
}

std::optional<std::uint64_t> checksum_from(std::string_view hex) noexcept {
  std::uint64_t checksum = 0;
  const auto [end, error] = std::from_chars(hex.begin(), hex.end(), checksum, 16);
  const bool is_whole = hex.size() == hex_digits && error == std::errc{} && end == hex.end();
  return is_whole ? std::optional{checksum} : std::nullopt;
}

}  // namespace iocomp::array
