// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace iocomp::bench {

struct HandOffOptions {
  std::vector<std::size_t> sizes;                        ///< of a put, in bytes
  std::size_t bytes_per_size = std::size_t{256} << 20U;  ///< sets the number of puts ...
  std::size_t most = 200;                                ///< ... up to this, at least one
  double pause_seconds = 0.001;       ///< before each put, so that servers fall asleep
  bool alloc = false;                 ///< put from memory of iocomp_alloc
  bool buffered = false;              ///< with IOCOMP_BUFFERED
  bool baseline = false;              ///< memcpy and, with 2 ranks, MPI, too
  std::string file = "hand_off.dat";  ///< .<size> is appended
  std::vector<std::string> settings;
  std::string json;

  [[nodiscard]] std::size_t repeats(std::size_t size) const noexcept;
  [[nodiscard]] std::size_t largest() const noexcept;
};

void declare(CLI::App& app, HandOffOptions& options);

}  // namespace iocomp::bench
