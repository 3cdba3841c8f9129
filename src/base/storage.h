// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace iocomp {

/// The method, level and form by which a variable is compressed.
struct Compression {
  enum class Method : std::uint8_t { none, deflate, zstd, filter };
  Method method = Method::none;
  int level = 0;        ///< of the method: 1 is fast
  bool shuffle = true;  ///< the bytes of elements are sorted before
  int filter = 0;       ///< the number of a filter that HDF5 finds, and the values that it gets
  std::array<unsigned, 32> values{};
  std::size_t value_count = 0;

  [[nodiscard]] bool is_on() const noexcept { return method != Method::none; }
};

/// The way in which a back-end keeps one variable.
struct Storage {
  std::int64_t chunk_bytes = std::int64_t{4} << 20;
  Compression compression{};
  std::string operator_name{};  ///< of adios2; empty: none
  std::vector<std::pair<std::string, std::string>> operator_parameters{};
};

}  // namespace iocomp
