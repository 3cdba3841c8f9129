// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "array/box.h"
#include "back_end.h"
#include "formats/format.h"
#include "formats/source.h"

namespace iocomp::formats {

/// Reads boxes of a committed file through its format, as this rank likes. Local.
class BoxReader {
 public:
  BoxReader(const BackEnd& back_end, const std::string& path);

  /// Reads the whole variable, a slice in each dimension and random boxes, each into a box of a
  /// larger array. @return the boxes in which something is not `expected`, or in which the array
  /// around them was changed.
  [[nodiscard]] std::string differences(const Placed& placed);

 private:
  [[nodiscard]] bool differs(const Placed& placed, const std::vector<std::byte>& all,
                             const array::Box& box, int halo);

  std::unique_ptr<Source> source_;
  std::mt19937_64 random_;  // of its own on each rank
};

}  // namespace iocomp::formats
