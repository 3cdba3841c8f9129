// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"

/// The entry of a fuzz target. Each source `<target>_fuzz.cpp` defines this one function;
/// libFuzzer calls it, or replay_main.cpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace iocomp::fuzz {

/// Ends the program: a finding.
[[noreturn]] void found(const std::string& story);

/// The input of the run.
inline std::string_view given;

inline void require(bool holds, std::string_view what) {
  if (!holds) {
    found(std::string{what});
  }
}

/// While it is there, more live memory than this is a finding. One at a time; the address sanitizer
/// counts.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t bytes) noexcept;
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit();
};

/// Ends the program if a story for users has words of a library. Those of the input are the user's:
/// the fuzzer learns what its texts are compared with.
inline void check_words(std::string_view story) {
  for (const std::string_view foreign :
       {"json.exception", ": stoi", ": stol", "vector::_M", "basic_string:"}) {
    const auto word = foreign.substr(foreign.find_first_not_of(": "));
    const bool is_of_input = given.find(word) != std::string_view::npos;
    require(is_of_input || story.find(foreign) == std::string_view::npos, story);
  }
}

/// Run `body`. @return false where it threw Error: that is an answer, in words for users. Other
/// exceptions are findings.
template <typename Body>
bool accepts(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& answer) {
    check_words(answer.what());
    return false;
  } catch (const std::exception& other) {
    found(std::string{"an exception that is no Error: "} + other.what());
  }
}

/// Run `body`, which has no reason to throw.
template <typename Body>
void must(const std::string& what, Body&& body) {
  try {
    body();
  } catch (const std::exception& error) {
    found(what + ": " + error.what());
  }
}

/// Takes values off the front of an input. Where it ends, values are zero and texts empty.
class Material {
 public:
  /// @param data  the input of the run, whole.
  Material(const std::uint8_t* data, std::size_t size) noexcept
      : left_{std::as_bytes(std::span{data, size})} {
    given = text_left();
  }

  template <typename T>
    requires std::is_integral_v<T>
  T number() noexcept {
    T value{};
    const auto bytes = take(sizeof value);
    if (!bytes.empty()) {
      std::memcpy(&value, bytes.data(), bytes.size());
    }
    return value;
  }
  /// From 0 to `most`. @pre most < 256
  int up_to(int most) noexcept { return number<std::uint8_t>() % (most + 1); }
  /// The text before `end`, which is left out; all where it does not come.
  std::string text(char end) {
    const auto rest = text_left();
    const auto length = rest.find(end);
    const std::string text{rest.substr(0, length)};
    (void)take(length == std::string_view::npos ? rest.size() : length + 1);
    return text;
  }
  std::span<const std::byte> take(std::size_t bytes) noexcept {
    const auto taken = left_.first(bytes < left_.size() ? bytes : left_.size());
    left_ = left_.subspan(taken.size());
    return taken;
  }
  [[nodiscard]] bool is_empty() const noexcept { return left_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return left_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes_left() const noexcept { return left_; }
  [[nodiscard]] std::string_view text_left() const noexcept {
    return {reinterpret_cast<const char*>(left_.data()), left_.size()};
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace iocomp::fuzz
