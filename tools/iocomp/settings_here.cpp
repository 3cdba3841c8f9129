// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/settings_here.h"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "config/settings.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "formats/modules.h"

namespace iocomp::command {

config::Settings settings_here() {
  auto settings = config::Settings::read({});
  for (const auto& warning : settings.warnings()) {
    fmt::print(stderr, "iocomp: {}\n", warning);
  }
  return settings;
}

std::string modules_here() {
  auto chosen = formats::chosen_modules();
  if (!chosen.empty()) {
    return chosen;
  }
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  return failure ? std::string{}
                 : (self.parent_path() / IOCOMP_COMMAND_MODULES).lexically_normal().string();
}

std::string engine_here(const config::Settings& settings) {
  const auto kind = settings.text("disk.engine") == "threads" ? disk::EngineKind::threads
                                                              : disk::EngineKind::automatic;
  return disk::start_engine({.engine = kind})->name();
}

}  // namespace iocomp::command
