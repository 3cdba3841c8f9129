#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#endif

namespace iocomp {

/// Copy much that this processor will not read again soon: past its caches where it can, so that
/// what the program has there stays.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
  constexpr std::size_t from_bytes = std::size_t{256} << 10;
  constexpr std::size_t line = 64;
  if (bytes >= from_bytes) {
    const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
    std::memcpy(to, from, head);
    std::size_t at = head;
    for (; at + line <= bytes; at += line) {
      for (std::size_t part = 0; part < line; part += sizeof(__m128i)) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part)));
      }
    }
    std::memcpy(to + at, from + at, bytes - at);
    _mm_sfence();  // who is told of the copy next must find it there
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace iocomp
