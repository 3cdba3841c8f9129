// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"

#include <cstddef>
#include <string_view>

namespace iocomp {

// RFC 3629: no longer forms than needed, no halves of pairs, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || at + length > text.size()) {
      return false;
    }
    for (std::size_t i = 1; i < length; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      const unsigned least = i > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
      const unsigned most = i > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
      if (next < least || next > most) {
        return false;
      }
    }
    at += length;
  }
  return true;
}

}  // namespace iocomp
