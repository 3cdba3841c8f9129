#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>

#include <cstdint>
#endif

namespace iocomp {

/// Copy one of several parts past the caches of this processor, where it can and where that pays:
/// twice to three times as fast into memory that is not in them, and what the program has there
/// stays. Others see the part after `stream_end`.
inline void stream_part(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
  constexpr std::size_t from_bytes = 256;
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
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

/// Who is told of the copies next finds them there.
inline void stream_end() noexcept {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Copy much that this processor will not read again soon, past its caches where it can.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t much = std::size_t{256} << 10;
  if (bytes < much) {
    std::memcpy(to, from, bytes);
    return;
  }
  stream_part(to, from, bytes);
  stream_end();
}

}  // namespace iocomp
