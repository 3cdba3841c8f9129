// SPDX-License-Identifier: BSD-3-Clause
#include "server/hurry.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace iocomp::server {

void Hurry::note(int client, std::int64_t step, bool durable) {
  auto& written = written_.try_emplace(client, step).first->second;
  written = std::max(written, step);
  if (durable) {
    auto& until = durable_.try_emplace(client, step).first->second;
    until = std::max(until, step);
  }
}

void Hurry::settle(std::int64_t step) {
  for (Steps* const steps : {&written_, &durable_}) {
    std::erase_if(*steps, [step](const auto& entry) { return entry.second <= step; });
  }
}

bool Hurry::covers(const Steps& steps, int client, std::int64_t step) {
  const auto found = steps.find(client);
  return found != steps.end() && step <= found->second;
}

}  // namespace iocomp::server
