// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "blocks/measure.h"

namespace iocomp::apps::blocks {

/// The result of a run as docs/developers/benchmark_figures.md defines it. Local.
/// @param compute_ranks  that wrote. @param read_bytes  of all ranks in a timed read of all steps.
[[nodiscard]] nlohmann::json report(const Options& options, const std::vector<Series>& all,
                                    const Extents& shape, int compute_ranks, double read_bytes);

/// A table for people.
void print(const nlohmann::json& result);

}  // namespace iocomp::apps::blocks
