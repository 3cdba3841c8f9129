// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/python_program.h"

#include "base/error.h"
#include "iocomp/beside.h"
#include "iocomp/child.h"

namespace iocomp::command {
namespace {

void run_python(const std::string& name, const PythonProgram& program,
                const std::vector<std::string>& words) {
  if (!std::filesystem::exists(program.needed)) {
    throw Error{ErrorCode::unsupported, "there is no " + program.needed.string() + ": `iocomp " +
                                            name + "` " + program.needs};
  }
  std::vector<std::string> line{IOCOMP_COMMAND_PYTHON, program.script};
  line.insert(line.end(), program.words.begin(), program.words.end());
  line.insert(line.end(), words.begin(), words.end());
  const int status = run_child(line, {{"STUDY_COMMAND", command_file()}});
  if (status != 0) {
    throw CLI::RuntimeError{status};
  }
}

}  // namespace

void add_python_program(CLI::App& app, const std::string& name, const std::string& about,
                        const PythonProgram& program, const std::vector<std::string>& words) {
  auto* command = app.add_subcommand(name, about);
  command->prefix_command();
  command->callback([=] { run_python(name, program, words); });
}

}  // namespace iocomp::command
