// SPDX-License-Identifier: BSD-3-Clause
#include "interference/options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "common/one_of.h"
#include "interference/kernels.h"

namespace iocomp::bench {

void declare(CLI::App& app, InterferenceOptions& options) {
  const std::map<std::string, Beside> states{
      {"none", Beside::none}, {"idle", Beside::idle}, {"writing", Beside::writing}};
  options.kernels = kernel_names();
  app.add_option("--server", options.beside, "none, idle or writing")
      ->transform(apps::OneOf(states));
  app.add_option("--kernels", options.kernels, "what is computed, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(kernel_names()));
  app.add_option("--pairs", options.pairs,
                 "of slices, alone and beside the server, per kernel; 0: compute nothing")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app.add_option("--slice", options.slice_seconds, "seconds of a slice, alone")
      ->check(CLI::Range(1e-3, 1e3))
      ->capture_default_str();
  app.add_option("--idle-seconds", options.idle_seconds,
                 "sleep so long, and count the processor time of the servers")
      ->check(CLI::Range(0.0, 1e5));
  app.add_option("--block", options.block_bytes, "bytes of a put")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{4096}, std::size_t{1} << 40U))
      ->capture_default_str();
  app.add_flag("--alloc", options.alloc, "what is put lies in memory of iocomp_alloc");
  app.add_option("--file", options.file, "where to write");
  app.add_option("--set", options.settings, "a setting as TOML");
  app.add_option("--json", options.json, "write the result there; - means stdout");
}

}  // namespace iocomp::bench
