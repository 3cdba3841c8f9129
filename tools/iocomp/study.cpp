// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "iocomp/beside.h"
#include "iocomp/python_program.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {
namespace {

PythonProgram studies(std::vector<std::string> first) {
  const auto script = beside_command(IOCOMP_COMMAND_STUDIES) / "study.py";
  return {.script = script,
          .needed = script,
          .needs = "is Python that is installed beside this command, so install iocomp as a whole",
          .words = std::move(first)};
}

}  // namespace

void add_advise(CLI::App& app, const std::vector<std::string>& words) {
  add_python_program(app, "advise", "Say how a program should write here, and how long it takes",
                     studies({"advise"}), words);
}

void add_check_site(CLI::App& app, const std::vector<std::string>& words) {
  add_python_program(app, "check-site",
                     "Say what works in a folder and on the nodes of this job, and what to set",
                     studies({"check-site"}), words);
}

void add_study(CLI::App& app, const std::vector<std::string>& words) {
  add_python_program(app, "study",
                     "Run a matrix of measurements, draw its figures, and write a report of it",
                     studies({}), words);
}

}  // namespace iocomp::command
