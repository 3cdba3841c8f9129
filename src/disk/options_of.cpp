// SPDX-License-Identifier: BSD-3-Clause
#include "disk/options_of.h"

#include <cstddef>

#include "config/settings.h"
#include "disk/options.h"

namespace iocomp::disk {

Options options_of(const config::Settings& settings) {
  Options options;
  const auto engine = settings.text("disk.engine");
  options.engine = engine == "uring"     ? EngineKind::uring
                   : engine == "threads" ? EngineKind::threads
                                         : EngineKind::automatic;
  const auto direct = settings.text("disk.direct");
  options.direct = direct == "on" ? Direct::on : direct == "off" ? Direct::off : Direct::automatic;
  options.direct_from_bytes = static_cast<std::size_t>(settings.bytes("test.direct_from"));
  options.request_bytes = static_cast<std::size_t>(settings.bytes("test.request"));
  options.threads = static_cast<int>(settings.integer("test.disk_threads"));
  return options;
}

}  // namespace iocomp::disk
