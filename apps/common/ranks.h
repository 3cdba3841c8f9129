// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

namespace iocomp::apps {

[[nodiscard]] int rank_in(MPI_Comm comm);
[[nodiscard]] int size_of(MPI_Comm comm);

/// The largest value of any rank. Collective over `comm`.
[[nodiscard]] double max_over(MPI_Comm comm, double value);

/// The same for every number in a JSON object, nested objects included; all ranks pass the same
/// keys. Collective over `comm`.
[[nodiscard]] nlohmann::json max_over(MPI_Comm comm, const nlohmann::json& numbers);

}  // namespace iocomp::apps
