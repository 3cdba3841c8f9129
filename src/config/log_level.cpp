// SPDX-License-Identifier: BSD-3-Clause
#include "config/log_level.h"

#include <map>
#include <string>

#include "base/log.h"
#include "config/settings.h"

namespace iocomp::config {

log::Level log_level(const Settings& settings) {
  static const std::map<std::string, log::Level> levels{{"silent", log::Level::silent},
                                                        {"error", log::Level::error},
                                                        {"warning", log::Level::warning},
                                                        {"info", log::Level::info},
                                                        {"debug", log::Level::debug}};
  return levels.at(settings.text("log"));
}

bool prints_start_line(const Settings& settings) {
  const auto lines = settings.text("trace.lines");
  return lines == "both" || lines == "start";
}

bool prints_summary(const Settings& settings) {
  const auto lines = settings.text("trace.lines");
  return lines == "both" || lines == "summary";
}

}  // namespace iocomp::config
