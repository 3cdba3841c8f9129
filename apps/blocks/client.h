// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "blocks/measure.h"

namespace iocomp::apps::blocks {

/// Makes the blocks to write and read, once it is known how many ranks compute.
using MakeCase = std::function<Case(int rank, int compute_ranks, nlohmann::json& about)>;

/// Start iocomp if it is asked for, write in all ways, report. Collective over MPI_COMM_WORLD.
/// @param program  its name, of which those of its files are made.
/// @return the exit code.
int run(const Options& options, const std::string& program, const MakeCase& make_case);

}  // namespace iocomp::apps::blocks
