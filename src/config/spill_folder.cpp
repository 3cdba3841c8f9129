// SPDX-License-Identifier: BSD-3-Clause
#include "config/spill_folder.h"

#include <cstdlib>
#include <string>

#include "config/settings.h"

namespace iocomp::config {

std::string spill_folder(const Settings& settings) {
  if (auto folder = settings.text("staging.spill"); !folder.empty()) {
    return folder;
  }
  for (const char* const variable : {"TMPDIR", "TMP", "TEMP"}) {
    const char* const folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0') {
      return folder;
    }
  }
  return "/tmp";
}

}  // namespace iocomp::config
