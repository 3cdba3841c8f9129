// SPDX-License-Identifier: BSD-3-Clause
#include "common/client_options.h"

#include <CLI/CLI.hpp>

#include "common/mistake.h"

namespace iocomp::apps {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    result += character;
  }
  return result + '"';
}

std::string ClientOptions::toml(const std::string& name) const {
  std::string text;
  if (!backend.empty()) text += "files." + name + ".backend = " + quoted(backend) + "\n";
  if (!file.empty()) text += "files." + name + ".path = " + quoted(file) + "\n";
  for (const std::string& line : settings) text += line + "\n";
  return text;
}

std::string CheckpointOptions::toml(const std::string& name) const {
  std::string text = "files.restart.keep = 2\n";
  if (restart) {
    text += "files.restart.existing = 'continue'\n";
    text += "files." + name + ".existing = 'continue'\n";
  }
  return text;
}

void CheckpointOptions::refuse_contradictions(const ClientOptions& options) const {
  if (options.plain && (checkpoint_every > 0 || restart || options.verify)) {
    throw Mistake("--plain goes without --checkpoint, --restart and --verify");
  }
}

void declare(CLI::App& app, ClientOptions& options) {
  app.add_flag("--plain", options.plain, "the same without any call of iocomp");
  app.add_flag("--alloc", options.alloc,
               "what is put lies in memory of iocomp_alloc; not with --plain");
  app.add_flag("--verify", options.verify, "read back what was put, and compare it");
  app.add_option("--warm", options.warm_bytes,
                 "bytes of free memory that each rank touches before the start")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--backend", options.backend, "format of the file (weaker than the environment)");
  app.add_option("--file", options.file, "path of the file (weaker than the environment)");
  app.add_option("--set", options.settings,
                 "a setting as TOML: --set 'staging.memory = \"64 MiB\"' (weaker than iocomp.toml "
                 "and the environment)");
  app.add_option("--json", options.json, "write the result there; - means stdout");
}

void declare(CLI::App& app, CheckpointOptions& options, const std::string& unit) {
  app.add_option("--checkpoint", options.checkpoint_every,
                 "a checkpoint after every so many " + unit + "; 0: none")
      ->check(CLI::Range(0, 1 << 30U));
  app.add_flag("--restart", options.restart, "go on behind the newest checkpoint, if there is one");
  app.add_option("--stop-after", options.stop_after,
                 "end after so many " + unit + " in all, as a job does at its walltime")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40U));
}

}  // namespace iocomp::apps
