// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/stripe_terms.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "config/settings.h"
#include "staging/arena.h"
#include "transport/shared_memory/node_stripes.h"

namespace iocomp::client {
namespace {

constexpr std::size_t stripes_at_once = 4;

}  // namespace

std::optional<transport::NodeStripes::Terms> stripe_terms(const config::Settings& settings) {
  transport::NodeStripes::Terms terms;
  constexpr std::size_t page = staging::Arena::page_bytes;
  terms.rank_bytes = static_cast<std::size_t>(settings.bytes("client.buffer_memory")) / 2;
  const auto asked = static_cast<std::size_t>(settings.bytes("test.stripe"));
  terms.stripe_bytes = std::min(asked, terms.rank_bytes / stripes_at_once) / page * page;
  terms.segment = settings.text("test.segment");
  const bool is_useful =
      terms.stripe_bytes > 0 && transport::NodeStripes::longest_stripes(terms) >= 2;
  return is_useful ? std::optional{terms} : std::nullopt;
}

}  // namespace iocomp::client
