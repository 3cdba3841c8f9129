// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "client/client.h"
#include "session/configuration.h"
#include "session/ranks.h"

namespace iocomp::session {

/// Print and write what the session counted, as the settings say. Collective over the compute
/// ranks.
void report(client::Client& client, const Ranks& ranks, const std::string& transport_name,
            const Configuration& configuration);

}  // namespace iocomp::session
