// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace iocomp::formats {

// Texts of any length, as libraries hand them out, become texts of one length: that of the longest.
// Null pointers are empty texts.

/// True if so many texts are too many to look at, or to pad to the length of the longest.
[[nodiscard]] bool are_too_many(std::int64_t texts, std::int64_t longest = 1) noexcept;
/// The reason why these are not read.
[[nodiscard]] std::string too_many_texts();

/// The length of the longest, at least 1.
[[nodiscard]] std::int64_t longest_of(std::span<char* const> texts) noexcept;
/// All of them, one after the other, each filled up with zeros to `length`, which cuts longer ones.
[[nodiscard]] std::vector<std::byte> pad_texts(std::span<char* const> texts, std::size_t length);

}  // namespace iocomp::formats
