#include "iocomp/settings_here.h"

#include <fmt/core.h>

#include <cstdio>

#include "config/settings.h"

namespace iocomp::command {

config::Settings settings_here() {
  auto settings = config::Settings::read({});
  for (const auto& warning : settings.warnings()) {
    fmt::print(stderr, "iocomp: {}\n", warning);
  }
  return settings;
}

}  // namespace iocomp::command
