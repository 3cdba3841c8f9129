// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

#include "hpl/benchmark.h"

namespace iocomp::apps::hpl {

/// The result of a run as docs/developers/benchmark_figures.md defines it: every time is the
/// largest of any rank. Collective over `comm`.
nlohmann::json report(const Options& options, MPI_Comm comm, const GridShape& grid,
                      const Measurement& measurement);

/// A few lines for people.
void print(const nlohmann::json& result);

}  // namespace iocomp::apps::hpl
