// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace iocomp::apps::hpl {

/// OpenBLAS decides when it is loaded how many threads it starts, and for which processor it
/// computes. By default it starts one for each core, which the ranks need themselves. A processor
/// that is younger than the library it takes for one of twenty years ago. So where the environment
/// says neither (OPENBLAS_NUM_THREADS, OPENBLAS_CORETYPE), this starts the program again with both.
/// Call it first in main. Does nothing with another BLAS.
void prepare_blas(char** argv);

/// The kernels and threads that it has chosen.
[[nodiscard]] nlohmann::json about_blas();

}  // namespace iocomp::apps::hpl
