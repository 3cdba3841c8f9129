// SPDX-License-Identifier: BSD-3-Clause
#include "common/io_timers.h"

#include <nlohmann/json.hpp>

namespace iocomp::apps {

nlohmann::json seconds_of(const IoTimers& timers) {
  return {{"open_seconds", timers.open.seconds()},
          {"send_seconds", timers.send.seconds()},
          {"wait_seconds", timers.wait.seconds()},
          {"close_seconds", timers.close.seconds()}};
}

}  // namespace iocomp::apps
