// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.h"

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <sstream>
#include <thread>

#include "common/ranks.h"

namespace iocomp::apps {
namespace {

/// @return the parser's exit code if the program has to end, else -1.
int parse(int argc, char** argv, CLI::App& options) {
  try {
    options.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    const int code = options.exit(error, text, text);
    if (rank_in(MPI_COMM_WORLD) == 0) (code == 0 ? std::cout : std::cerr) << text.str();
    return code;
  }
}

}  // namespace

int run_program(int argc, char** argv, CLI::App& options, const std::function<int()>& body) {
  MPI_Init(&argc, &argv);
  int code = parse(argc, argv, options);
  if (code < 0) {
    try {
      code = body();
    } catch (const std::exception& error) {
      std::ostringstream line;  // in one write, which the abort of another rank cannot cut
      line << options.get_name() << ": rank " << rank_in(MPI_COMM_WORLD) << ": " << error.what()
           << '\n';
      std::cerr << line.str();
      // When a rank aborts, a launcher drops the output that it has not read.
      std::this_thread::sleep_for(std::chrono::milliseconds{100});
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return code;
}

}  // namespace iocomp::apps
