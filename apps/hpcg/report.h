// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

#include "hpcg/benchmark.h"
#include "hpcg/checks.h"

namespace iocomp::apps::hpcg {

/// The result of a run as docs/developers/benchmark_figures.md defines it: every time is the
/// largest of any rank. Collective over `comm`.
nlohmann::json report(const Options& options, MPI_Comm comm, const Multigrid& multigrid,
                      const Measurement& measurement, const CgTimers& timers);

nlohmann::json report(const Spectral& spectral, const Symmetry& symmetry);

/// A few lines for people.
void print(const nlohmann::json& result);

}  // namespace iocomp::apps::hpcg
