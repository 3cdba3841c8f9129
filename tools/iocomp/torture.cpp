// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "iocomp/beside.h"
#include "iocomp/python_program.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {

void add_torture(CLI::App& app, const std::vector<std::string>& words) {
  const auto folder = beside_command(IOCOMP_COMMAND_TORTURE);
  const auto build = folder / "build.json";
  add_python_program(
      app, "torture",
      "Break jobs that write into a directory, and check that nothing is lost there",
      {.script = folder / "tests/faults/torture.py",
       .needed = build,
       .needs = "needs the program of the tests, so build iocomp with IOCOMP_BUILD_TESTS=ON",
       .words = {"--build", build}},
      words);
}

}  // namespace iocomp::command
