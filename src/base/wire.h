// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp {

/// Appends plain values to a message, in native byte order: all ranks of a job run the same build
/// (checked in init).
class WireWriter {
 public:
  /// Makes room for so many bytes in all. Room that is made part by part doubles.
  void reserve(std::size_t bytes) {
    if (bytes > bytes_.capacity()) {
      bytes_.reserve(std::max(bytes, 2 * bytes_.capacity()));
    }
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    append(&value, sizeof value);
  }
  // Not inlined: GCC 12 would warn of bounds that it misreads.
  [[gnu::noinline]] void put_bytes(std::span<const std::byte> bytes) {
    put(static_cast<std::uint64_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());  // a resize would clear them first
  }
  void put_text(std::string_view text) {
    put_bytes(std::as_bytes(std::span{text.data(), text.size()}));
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  void append(const void* source, std::size_t size) {
    if (size > 0) {
      const std::size_t before = bytes_.size();
      bytes_.resize(before + size);
      std::memcpy(bytes_.data() + before, source, size);
    }
  }

  std::vector<std::byte> bytes_;
};

/// Reads what a WireWriter wrote. Every access is checked. What fails is an Error{internal}.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) noexcept : left_{bytes} {}

  /// @throws Error{internal} when the message is shorter than its content claims.
  template <typename T>
    requires(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>)
  [[nodiscard]] T get() {
    T value{};
    const auto bytes = next(sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  [[nodiscard]] bool get_truth() {
    const auto value = get<std::uint8_t>();
    if (value > 1) {
      throw Error{ErrorCode::internal,
                  "a message has " + std::to_string(value) + " for a truth value"};
    }
    return value == 1;
  }
  /// The number of things that follow, each of which takes at least so many bytes.
  [[nodiscard]] std::size_t get_count(std::size_t least_bytes) {
    const auto count = get<std::uint64_t>();
    if (count > left_.size() / least_bytes) {
      throw Error{ErrorCode::internal, "a message ends early: " + std::to_string(count) +
                                           " entries expected, " + std::to_string(left_.size()) +
                                           " bytes left"};
    }
    return static_cast<std::size_t>(count);
  }
  [[nodiscard]] std::span<const std::byte> get_bytes() { return next(get<std::uint64_t>()); }
  [[nodiscard]] std::string get_text() {
    const auto bytes = get_bytes();
    std::string text(bytes.size(), '\0');
    if (!bytes.empty()) {
      std::memcpy(text.data(), bytes.data(), bytes.size());
    }
    return text;
  }
  [[nodiscard]] std::size_t bytes_left() const noexcept { return left_.size(); }

 private:
  std::span<const std::byte> next(std::uint64_t size) {
    if (size > left_.size()) {
      throw Error{ErrorCode::internal, "a message ends early: " + std::to_string(size) +
                                           " bytes expected, " + std::to_string(left_.size()) +
                                           " left"};
    }
    const auto bytes = left_.first(size);
    left_ = left_.subspan(size);
    return bytes;
  }

  std::span<const std::byte> left_;
};

}  // namespace iocomp
