// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rivals/rival.h"

namespace CLI {
class App;
}

namespace iocomp::bench {

enum class Mode {
  none,           ///< no output
  idle,           ///< no output, but a session whose servers have nothing to do
  pwrite,         ///< by hand: pwrite of 8 MiB pieces, fsync at the end, one file per rank
  pwrite_direct,  ///< the same with O_DIRECT, each put in one piece
  thread,         ///< the same by a thread of the rank, while that computes
  iocomp,         ///< iocomp_put; how it is written is a matter of settings
  rival           ///< another library: `Options::rival`
};

struct Options {
  Mode mode = Mode::none;
  Rival rival = Rival::iwrite;
  bool alloc = false;                         ///< buffers from iocomp_alloc; mode iocomp alone
  bool is_ordinary = false;                   ///< buffers from malloc
  std::size_t bytes = std::size_t{64} << 20;  ///< per put and rank
  int puts = 20;
  std::size_t compute_bytes = 0;  ///< that the triad writes before each put; 0: no computing
  std::size_t warm_bytes = 0;     ///< of free memory, touched before the start
  std::string file = "overlap.dat";
  std::vector<std::string> settings;
  std::string json;

  [[nodiscard]] std::size_t elements() const noexcept { return bytes / sizeof(double); }
};

void declare(CLI::App& app, Options& options);

}  // namespace iocomp::bench
