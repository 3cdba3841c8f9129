// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "iocomp/beside.h"
#include "iocomp/child.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {
namespace {

void torture(const std::vector<std::string>& words) {
  const auto folder = beside_command(IOCOMP_COMMAND_TORTURE);
  const auto build = folder / "build.json";
  if (!std::filesystem::exists(build)) {
    throw Error{ErrorCode::unsupported,
                "there is no " + build.string() +
                    ": `iocomp torture` needs the program of the tests, so build iocomp with "
                    "IOCOMP_BUILD_TESTS=ON"};
  }
  std::vector<std::string> line{IOCOMP_COMMAND_PYTHON, folder / "tests/faults/torture.py",
                                "--build", build};
  line.insert(line.end(), words.begin(), words.end());
  const int status = run_child(line, {});
  if (status != 0) {
    throw CLI::RuntimeError{status};
  }
}

}  // namespace

void add_torture(CLI::App& app) {
  auto* command = app.add_subcommand(
      "torture", "Break jobs that write into a directory, and check that nothing is lost there");
  command->set_help_flag();  // --help is the program's
  command->prefix_command();
  command->callback([command] { torture(command->remaining()); });
}

}  // namespace iocomp::command
