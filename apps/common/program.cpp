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

/// @return the parser's exit code if the program has to end, else -1. `text` is for the user then.
int parse(int argc, char** argv, CLI::App& options, std::ostringstream& text) {
  try {
    options.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    return options.exit(error, text, text);
  }
}

}  // namespace

int run_program(int argc, char** argv, CLI::App& options, const std::function<int()>& body) {
  bool has_threads = false;
  options.add_flag("--mpi-threads", has_threads,
                   "ask for MPI_THREAD_MULTIPLE: without servers, threads of iocomp then write "
                   "compressed files and Zarr stores");
  std::ostringstream text;
  int code = parse(argc, argv, options, text);
  int given = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
  if (code >= 0) {
    if (rank_in(MPI_COMM_WORLD) == 0) (code == 0 ? std::cout : std::cerr) << text.str();
  } else {
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
