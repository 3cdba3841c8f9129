// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <set>

namespace iocomp::bench {
namespace {

std::set<std::string> known_names(const std::map<std::string, Mode>& modes,
                                  const std::map<std::string, Rival>& rivals) {
  std::set<std::string> names;
  for (const auto& [name, mode] : modes) names.insert(name);
  for (const auto& [name, rival] : rivals) names.insert(name);
  return names;
}

}  // namespace

void declare(CLI::App& app, Options& options) {
  const std::map<std::string, Mode> modes{
      {"none", Mode::none},     {"idle", Mode::idle},
      {"pwrite", Mode::pwrite}, {"pwrite-direct", Mode::pwrite_direct},
      {"thread", Mode::thread}, {"iocomp", Mode::iocomp}};
  const std::map<std::string, Rival> rivals{rival_names().begin(), rival_names().end()};
  const std::size_t most = std::size_t{1} << 46U;
  app.add_option_function<std::string>(
         "--mode",
         [&options, modes, rivals](const std::string& name) {
           const auto mode = modes.find(name);
           options.mode = mode == modes.end() ? Mode::rival : mode->second;
           if (options.mode == Mode::rival) options.rival = rivals.at(name);
         },
         "none, idle, pwrite, pwrite-direct, thread, iocomp, iwrite, bp5-naive or bp5-guided")
      ->check(CLI::IsMember(known_names(modes, rivals)));
  auto* const alloc =
      app.add_flag("--alloc", options.alloc, "buffers from iocomp_alloc, in mode iocomp");
  app.add_flag("--malloc", options.is_ordinary, "buffers from malloc, not in huge pages")
      ->excludes(alloc);
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
