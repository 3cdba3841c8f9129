// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/silence.h"

#include <functional>

namespace iocomp::client {

void Silence::ask(int servers, const std::function<void(int server)>& ask) {
  for (int server = 0; server < servers; ++server) {
    if (asked_.insert(server).second) {
      ask(server);
    }
  }
}

void Silence::answered(int server) {
  asked_.erase(server);
  silent_.erase(server);
}

}  // namespace iocomp::client
