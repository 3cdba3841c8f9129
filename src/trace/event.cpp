// SPDX-License-Identifier: BSD-3-Clause
#include "trace/event.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace iocomp::trace {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(What::count_)> event_names{
    "call", "waiting", "checksum", "hand over", "take", "pull",
    "full", "write",   "fsync",    "commit",    "spill"};

// Cut between two letters of UTF-8, never within one.
template <std::size_t size>
void copy_cut(std::string_view from, std::array<char, size>& to) noexcept {
  std::size_t length = std::min(from.size(), size - 1);
  if (length < from.size()) {
    while (length > 0 && (static_cast<unsigned char>(from[length]) & 0xC0U) == 0x80U) {
      --length;
    }
  }
  std::memcpy(to.data(), from.data(), length);
  to[length] = '\0';
}

template <std::size_t size>
std::string_view until_zero(const std::array<char, size>& text) noexcept {
  return {text.data(), static_cast<std::size_t>(std::ranges::find(text, '\0') - text.begin())};
}

}  // namespace

std::string_view name(What what) noexcept {
  const auto index = static_cast<std::size_t>(what);
  return index < event_names.size() ? event_names[index] : "unknown";
}

std::string_view Event::file_name() const noexcept { return until_zero(file); }
std::string_view Event::words() const noexcept { return until_zero(text); }

void describe(Event& event, const Subject& subject) noexcept {
  if (!subject.file.empty()) {
    copy_cut(subject.file, event.file);
  }
  if (!subject.text.empty()) {
    copy_cut(subject.text, event.text);
  }
  event.step = subject.step >= 0 ? subject.step : event.step;
  event.bytes = subject.bytes > 0 ? subject.bytes : event.bytes;
  event.rank = subject.rank >= 0 ? subject.rank : event.rank;
  event.ticket = subject.ticket > 0 ? subject.ticket : event.ticket;
}

// FNV-1a over words.
std::uint32_t check_of(const Event& event) noexcept {
  constexpr std::size_t words = offsetof(Event, check) / sizeof(std::uint32_t);
  std::array<std::uint32_t, words> all{};
  std::memcpy(all.data(), &event, sizeof all);
  std::uint32_t check = 2166136261U;
  for (const std::uint32_t word : all) {
    check = (check ^ word) * 16777619U;
  }
  return check == 0 ? 1 : check;
}

}  // namespace iocomp::trace
