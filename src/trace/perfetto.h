// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>

#include "trace/merged.h"

namespace iocomp::trace {

/// Writes JSON in the trace event format, which Perfetto and chrome://tracing open: a process for
/// each rank, a thread for each lane of each row, a complete event ("X") for each event.
void write_perfetto(const Merged& merged, std::ostream& out);

}  // namespace iocomp::trace
