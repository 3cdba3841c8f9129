// SPDX-License-Identifier: BSD-3-Clause
#include "stream/options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace iocomp::apps::stream {
namespace {

// STREAM's arrays grow 15-fold in every loop; 15^260 is the last power that a double holds.
constexpr int most_loops = 250;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    result += character;
  }
  return result + '"';
}

}  // namespace

std::string Options::toml() const {
  std::string text;
  if (!backend.empty()) text += "files.stream.backend = " + quoted(backend) + "\n";
  if (!file.empty()) text += "files.stream.path = " + quoted(file) + "\n";
  for (const std::string& line : settings) text += line + "\n";
  return text;
}

void declare(CLI::App& app, Options& options) {
  const std::map<std::string, bool> on_off{{"on", true}, {"off", false}};
  const std::map<std::string, Pattern> patterns{{"stream", Pattern::stream},
                                                {"index", Pattern::index}};
  app.add_option("--size", options.bytes, "bytes per array and rank, such as 128MiB")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(sizeof(double), std::size_t{1} << 46U))
      ->capture_default_str();
  app.add_option("--loops", options.loops, "loops over the four kernels")
      ->check(CLI::Range(1, most_loops))
      ->capture_default_str();
  app.add_option("--write-every", options.write_every, "write in every so manieth loop; 0: never")
      ->check(CLI::Range(0, most_loops))
      ->capture_default_str();
  app.add_option("--progress", options.progress,
                 "call iocomp_progress inside the kernels: on or off")
      ->transform(CLI::CheckedTransformer(on_off));
  app.add_option("--progress-stride", options.progress_bytes,
                 "bytes of the array a kernel writes between two such calls")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(sizeof(double), std::size_t{1} << 46U))
      ->capture_default_str();
  app.add_option("--pattern", options.pattern,
                 "stream, or index: every element tells its global index and when it was written")
      ->transform(CLI::CheckedTransformer(patterns));
  app.add_option("--warm", options.warm_bytes,
                 "bytes of free memory that each rank touches before the start")
      ->transform(CLI::AsSizeValue(false));
  app.add_flag("--plain", options.plain, "the same kernels without any call of iocomp");
  app.add_flag("--alloc", options.alloc, "arrays in memory of iocomp_alloc; not with --plain");
  app.add_flag("--verify", options.verify,
               "read the file back, without iocomp, and compare every element");
  app.add_option("--backend", options.backend, "format of the file (weaker than the environment)");
  app.add_option("--file", options.file, "path of the file (weaker than the environment)");
  app.add_option("--set", options.settings,
                 "a setting as TOML: --set 'staging.memory = \"64 MiB\"' (weaker than iocomp.toml "
                 "and the environment)");
  app.add_option("--json", options.json, "write the result there; - means stdout");
}

}  // namespace iocomp::apps::stream
