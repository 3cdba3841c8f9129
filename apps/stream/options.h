// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/client_options.h"

namespace CLI {
class App;
}

namespace iocomp::apps::stream {

/// The values of the arrays.
enum class Pattern {
  stream,  ///< STREAM's constants: what is measured
  index    ///< every element tells its global index and when it was written: what is verified
};

struct Options : ClientOptions {
  std::size_t bytes = std::size_t{128} << 20;  ///< per array and rank
  int loops = 100;
  int write_every = 10;  ///< a put in every loop i with i mod write_every = 0; 0: none
  bool progress = false;
  std::size_t progress_bytes =
      std::size_t{1} << 20;  ///< of the array written, between two calls of iocomp_progress
  Pattern pattern = Pattern::stream;
  bool in_turn = false;  ///< two sets of arrays, so that what is put is left alone

  [[nodiscard]] std::size_t elements() const noexcept { return bytes / sizeof(double); }
  [[nodiscard]] bool writes_in(int loop) const noexcept {
    return write_every > 0 && loop % write_every == 0;
  }
  /// Arrays that a writing loop puts: c twice, or with `in_turn` each once.
  [[nodiscard]] std::size_t arrays_put() const noexcept { return in_turn ? 3 : 4; }
  [[nodiscard]] int writing_loops() const noexcept {
    return write_every > 0 ? (loops + write_every - 1) / write_every : 0;
  }
};

/// Declare the options; `options` must live until they are parsed.
void declare(CLI::App& app, Options& options);

}  // namespace iocomp::apps::stream
