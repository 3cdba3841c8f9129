// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "base/crew.h"
#include "config/settings.h"
#include "mpi/wait.h"
#include "session/seating.h"

namespace iocomp::session {

/// True if requests are divided among several threads: the same on all ranks.
[[nodiscard]] bool wants_writer_threads(const config::Settings& settings);

/// The threads that this process divides its requests among, where the settings place them. The log
/// is told. Collective over the node.
/// @pre wants_writer_threads(settings)
[[nodiscard]] std::unique_ptr<Crew> make_crew(const Seating& seating, bool computes,
                                              const config::Settings& settings,
                                              const mpi::WaitPolicy& policy);

}  // namespace iocomp::session
