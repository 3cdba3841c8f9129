// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace iocomp::bench {

/// The load beside the kernels.
enum class Beside {
  none,    ///< no server, no session
  idle,    ///< servers with nothing to do
  writing  ///< servers (or the kernel of the system) that write all the time
};

struct InterferenceOptions {
  Beside beside = Beside::idle;
  std::vector<std::string> kernels;
  int pairs = 2;                                    ///< of slices, one alone, one beside
  double slice_seconds = 0.05;                      ///< of one kernel, alone
  double idle_seconds = 0;                          ///< sleep so long first, and count CPU time
  std::size_t block_bytes = std::size_t{32} << 20;  ///< of what is written meanwhile
  bool alloc = false;
  std::string file = "interference.dat";
  std::vector<std::string> settings;
  std::string json;
};

void declare(CLI::App& app, InterferenceOptions& options);

}  // namespace iocomp::bench
