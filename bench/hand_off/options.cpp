// SPDX-License-Identifier: BSD-3-Clause
#include "hand_off/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace iocomp::bench {

std::size_t HandOffOptions::repeats(std::size_t size) const noexcept {
  return std::clamp(bytes_per_size / size, std::size_t{1}, most);
}

std::size_t HandOffOptions::largest() const noexcept { return *std::ranges::max_element(sizes); }

void declare(CLI::App& app, HandOffOptions& options) {
  constexpr std::size_t kib = 1024;
  options.sizes = {4 * kib, 16 * kib, 64 * kib, kib * kib, 16 * kib * kib, 64 * kib * kib};
  const auto size = CLI::Range(std::size_t{8}, std::size_t{1} << 40U);
  app.add_option("--sizes", options.sizes, "bytes of a put, such as 4KiB,1GiB")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(size);
  app.add_option("--bytes-per-size", options.bytes_per_size, "that are put in each size, about")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--most", options.most, "puts of one size")->check(CLI::Range(1, 1000000));
  app.add_option("--pause", options.pause_seconds, "seconds before each put")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  app.add_flag("--alloc", options.alloc, "put from memory of iocomp_alloc");
  app.add_flag("--buffered", options.buffered, "the library copies the block (IOCOMP_BUFFERED)");
  app.add_flag("--baseline", options.baseline,
               "also memcpy, and MPI_Isend and MPI_Recv if there are 2 ranks");
  app.add_option("--file", options.file, "where to write; .<size> is appended");
  app.add_option("--set", options.settings, "a setting as TOML");
  app.add_option("--json", options.json, "write the result there; - means stdout");
}

}  // namespace iocomp::bench
