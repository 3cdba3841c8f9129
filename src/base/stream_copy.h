// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace iocomp {

/// Less than this is copied sooner through the caches.
inline constexpr std::size_t least_streamed_bytes = 512;

/// Write a word past the caches of this processor, where it can. @pre `to` is aligned to it.
inline void stream_word(std::byte* to, std::uint64_t word) noexcept {
#if defined(__SSE2__) && defined(__x86_64__)
  // NOLINTNEXTLINE(google-runtime-int): what the processor's instruction is declared with
  _mm_stream_si64(reinterpret_cast<long long*>(to), static_cast<long long>(word));
#else
  std::memcpy(to, &word, sizeof word);
#endif
}

/// Copy one of several parts past the caches of this processor, where it can and where that pays:
/// twice to three times as fast into memory that is not in them, and what the program has there
/// stays. Others see the part after `stream_end`.
inline void stream_part(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__SSE2__) && defined(__x86_64__)
  constexpr std::size_t word = sizeof(std::uint64_t);
  constexpr std::size_t line = 64;
  if (bytes >= least_streamed_bytes) {
    std::size_t at = (word - reinterpret_cast<std::uintptr_t>(to) % word) % word;
    std::memcpy(to, from, at);
    // Lines that are written in part too: to have one in the cache costs reading it.
    const auto stream_words = [&](std::size_t end) {
      for (; at + word <= end; at += word) {
        std::uint64_t value = 0;
        std::memcpy(&value, from + at, word);
        stream_word(to + at, value);
      }
    };
    stream_words((line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
    for (; at + line <= bytes; at += line) {
      for (std::size_t part = 0; part < line; part += sizeof(__m128i)) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part)));
      }
    }
    stream_words(bytes);
    std::memcpy(to + at, from + at, bytes - at);
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

/// Makes the copies visible to any thread that is told of them afterwards.
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
