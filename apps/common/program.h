// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace iocomp::apps {

/// The frame of every client: MPI_Init, read the options (rank 0 alone prints help and mistakes),
/// run, MPI_Finalize. An exception of `body` is printed with its rank and ends the whole job, since
/// other ranks may be waiting for this one.
/// @return the exit code for main: what `body` returns, or that of the option parser.
int run_program(int argc, char** argv, CLI::App& options, const std::function<int()>& body);

}  // namespace iocomp::apps
