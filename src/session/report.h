// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "client/client.h"
#include "session/configuration.h"
#include "session/ranks.h"
#include "trace/timeline.h"

namespace iocomp::session {

/// The timeline of this process, in the folder that trace.timeline names; null where that is unset.
/// Collective over all ranks.
/// @throws Error{invalid_setting}, the same on all ranks, where one of them cannot write there.
[[nodiscard]] std::unique_ptr<trace::Timeline> start_timeline(const Ranks& ranks,
                                                              const Configuration& configuration);

/// Print and write what the session counted, as the settings say. Collective over the compute
/// ranks.
void report(client::Client& client, const Ranks& ranks, const std::string& transport_name,
            const Configuration& configuration);

}  // namespace iocomp::session
