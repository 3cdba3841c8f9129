// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "common/put_array.h"
#include "common/session.h"

namespace iocomp::bench {

/// Output without end: two blocks, each put again as soon as it was written.
class Load {
 public:
  Load(const apps::Session& session, std::size_t block_bytes, bool alloc);

  /// Put what is free. Never waits for the disk.
  void feed();
  /// Sleep until all that was put is written.
  void drain();
  void close();

  [[nodiscard]] double bytes_put() const noexcept { return bytes_put_; }

 private:
  struct Block {
    Block(const apps::Session* memory_of, std::size_t elements) : values{memory_of, elements} {}
    apps::PutArray values;
    iocomp_ticket ticket{};
    bool is_under_way = false;
  };

  const std::int64_t count_;
  std::array<Block, 2> blocks_;
  double bytes_put_ = 0;
  iocomp_file* file_ = nullptr;
  iocomp_var* variable_ = nullptr;
};

}  // namespace iocomp::bench
