// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/journal.h"

#include <cstddef>
#include <string>
#include <utility>

#include "base/log.h"

namespace iocomp::client {

void Journal::note(std::string text) {
  log::info(text);
  notes_.push_back(std::move(text));
}

void Journal::warn(std::string text) {
  log::warning(text);
  notes_.push_back(std::move(text));
}

void Journal::explain(std::string text) {
  constexpr std::size_t most = 1000;
  log::info(text);
  if (choices_.size() < most) {
    choices_.push_back(std::move(text));
  }
}

}  // namespace iocomp::client
