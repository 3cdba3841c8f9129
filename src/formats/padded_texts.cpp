// SPDX-License-Identifier: BSD-3-Clause
#include "formats/padded_texts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace iocomp::formats {
namespace {

constexpr std::int64_t most_texts = std::int64_t{1} << 20;
constexpr std::int64_t most_text_bytes = std::int64_t{1} << 30;

}  // namespace

bool are_too_many(std::int64_t texts, std::int64_t longest) noexcept {
  return texts > most_texts || longest > most_text_bytes / std::max<std::int64_t>(texts, 1);
}

std::string too_many_texts() {
  return "texts of any length, which are more than " + std::to_string(most_texts) + ", or " +
         std::to_string(most_text_bytes) + " bytes if each is as long as the longest";
}

std::int64_t longest_of(std::span<char* const> texts) noexcept {
  std::size_t longest = 1;
  for (const char* const text : texts) {
    longest = std::max(longest, text == nullptr ? 0 : std::strlen(text));
  }
  return static_cast<std::int64_t>(longest);
}

std::vector<std::byte> pad_texts(std::span<char* const> texts, std::size_t length) {
  std::vector<std::byte> all(texts.size() * length);
  std::byte* to = all.data();
  for (const char* const text : texts) {
    if (text != nullptr) {
      std::memcpy(to, text, std::min(length, std::strlen(text)));
    }
    to += length;
  }
  return all;
}

}  // namespace iocomp::formats
