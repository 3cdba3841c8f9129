#pragma once

#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <iocomp/iocomp.hpp>
#include <string>
#include <vector>

/// A box, and where it begins in two arrays that contain it.
struct Block {
  std::vector<std::int64_t> count;
  std::vector<std::int64_t> global_shape, global_start;
  std::vector<std::int64_t> memory_shape, memory_start;
};

/// A block that some rank has put.
struct WrittenBlock {
  std::string variable;
  iocomp_type type{};
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  Block block;

  [[nodiscard]] bool is_empty() const;
  /// The local array: the pattern inside the block, poison around it.
  [[nodiscard]] std::vector<std::byte> local_array() const;
  /// Read it into such an array.
  /// @throws std::runtime_error when it is not as it was put.
  void expect_in(const iocomp::Input& input) const;
};

inline constexpr std::byte poison{0xa5};  // what no file may contain
