// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "config/settings.h"
#include "transport/shared_memory/node_stripes.h"

namespace iocomp::client {

/// The terms on which ranks of a node put short runs together; nothing if the settings leave no
/// room for that. Stripes may have half of `client.buffer_memory`.
[[nodiscard]] std::optional<transport::NodeStripes::Terms> stripe_terms(
    const config::Settings& settings);

}  // namespace iocomp::client
