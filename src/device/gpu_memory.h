// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/driver.h"
#include "device/gpu_values.h"

namespace iocomp::device {

/// Finds out which of the program's arrays are in the memory of a GPU. It never loads a driver: a
/// program with such arrays has done so. One object for each thread.
class GpuMemory {
 public:
  /// Look for drivers among what is loaded, so that no put has to. One that is there is left to the
  /// first put: it may be of no use to this program.
  void look_ahead();

  /// The size of the window through which the CPU reads such values, one for each GPU that has
  /// some.
  static constexpr std::size_t window_bytes = std::size_t{8} << 20;

  /// The values at an address; nothing where the CPU can read them. Those found before are not read
  /// any more.
  /// @param begin, end  the bytes behind the address that will be read.
  /// @throws Error{unsupported} for a driver, or a kind of memory, that cannot be used, and in a
  /// build without IOCOMP_WITH_GPU;
  /// Error{invalid_argument} where the driver cannot read them.
  [[nodiscard]] std::shared_ptr<GpuValues> find(const void* first, std::size_t begin,
                                                std::size_t end);

  /// True if `find` would find values of a GPU.
  /// @throws Error{unsupported} as above.
  [[nodiscard]] bool is_there(const void* address);

 private:
  void look_for_drivers();

  unsigned long long loads_ = 0;  // when drivers were looked for
  bool has_cuda_ = false;
  bool has_hip_ = false;
  std::vector<std::unique_ptr<Driver>> drivers_;
  std::map<std::pair<const Driver*, Owner>, std::unique_ptr<Window>> windows_;
};

}  // namespace iocomp::device
