#include "overlap/options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace iocomp::bench {

void declare(CLI::App& app, Options& options) {
  const std::map<std::string, Mode> modes{{"none", Mode::none},
                                          {"idle", Mode::idle},
                                          {"pwrite", Mode::pwrite},
                                          {"iocomp", Mode::iocomp}};
  const std::size_t most = std::size_t{1} << 46U;
  app.add_option("--mode", options.mode, "none, idle, pwrite or iocomp")
      ->transform(CLI::CheckedTransformer(modes));
  app.add_option("--bytes", options.bytes, "per put and rank")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{4096}, most))
      ->capture_default_str();
  app.add_option("--puts", options.puts, "number of puts")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--compute-bytes", options.compute_bytes,
                 "that the triad writes before each put; 0: none")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--warm", options.warm_bytes, "of free memory to touch before the start")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--file", options.file, "where to write; of pwrite: .<rank> is appended");
  app.add_option("--set", options.settings, "a setting as TOML");
  app.add_option("--json", options.json, "write the result there; - means stdout");
}

}  // namespace iocomp::bench
