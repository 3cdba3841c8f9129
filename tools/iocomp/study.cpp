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

void study(const std::vector<std::string>& words) {
  const auto script = beside_command(IOCOMP_COMMAND_STUDIES) / "study.py";
  if (!std::filesystem::exists(script)) {
    throw Error{ErrorCode::unsupported, "there is no " + script.string() +
                                            ": `iocomp study` is Python that is installed beside "
                                            "this command, so install iocomp as a whole"};
  }
  std::vector<std::string> line{IOCOMP_COMMAND_PYTHON, script};
  line.insert(line.end(), words.begin(), words.end());
  const int status = run_child(line, {{"STUDY_COMMAND", command_file()}});
  if (status != 0) {
    throw CLI::RuntimeError{status};
  }
}

}  // namespace

void add_study(CLI::App& app) {
  auto* command = app.add_subcommand(
      "study", "Run a matrix of measurements, draw its figures, and write a report of it");
  command->set_help_flag();  // --help is that of the Python program
  command->prefix_command();
  command->callback([command] { study(command->remaining()); });
}

}  // namespace iocomp::command
