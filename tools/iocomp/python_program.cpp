// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/python_program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "iocomp/beside.h"
#include "iocomp/child.h"
#include "iocomp/other_programs.h"

namespace iocomp::command {
namespace {

std::vector<std::string> line_of(const PythonProgram& program,
                                 const std::vector<std::string>& words) {
  std::vector<std::string> line{IOCOMP_COMMAND_PYTHON, program.script};
  line.insert(line.end(), program.words.begin(), program.words.end());
  line.insert(line.end(), words.begin(), words.end());
  return line;
}

void run_python(const std::string& name, const PythonProgram& program,
                const std::vector<std::string>& words) {
  if (!std::filesystem::exists(program.needed)) {
    throw Error{ErrorCode::unsupported, "there is no " + program.needed.string() + ": `iocomp " +
                                            name + "` " + program.needs};
  }
  const int status = run_child(line_of(program, words), {{"STUDY_COMMAND", command_file()}});
  if (status != 0) {
    throw CLI::RuntimeError{status};
  }
}

void add_words(CLI::App& command, const nlohmann::json& told) {
  for (const auto& one : told.at("options")) {
    const auto names = one.at("names").get<std::string>();
    const auto about = one.at("about").get<std::string>();
    if (one.at("is_flag").get<bool>()) {
      command.add_flag(names, about);
      continue;
    }
    const auto values = one.at("values").get<std::vector<std::string>>();
    auto* option = command.add_option(names, about);
    option->default_str(one.at("default").get<std::string>());
    option->type_name(values.empty() ? "TEXT" : fmt::format("TEXT:{{{}}}", fmt::join(values, ",")));
  }
  for (const auto& one : told.at("commands")) {
    add_words(*command.add_subcommand(one.at("name").get<std::string>(),
                                      one.at("about").get<std::string>()),
              one);
  }
}

class PythonCommand : public CLI::App {
 public:
  PythonCommand(const std::string& name, const std::string& about, PythonProgram program)
      : CLI::App{about, name}, program_{std::move(program)} {
    prefix_command();
    set_help_flag();
  }

  void ask() {
    const auto told = nlohmann::json::parse(
        printed_by(line_of(program_, {"--tell-words"}), Errors::dropped), nullptr, false);
    if (!told.is_discarded()) {
      add_words(*this, told);
    }
  }

 private:
  PythonProgram program_;
};

}  // namespace

void add_python_program(CLI::App& app, const std::string& name, const std::string& about,
                        const PythonProgram& program, const std::vector<std::string>& words) {
  auto* command = app.add_subcommand(std::make_shared<PythonCommand>(name, about, program));
  command->callback([=] { run_python(name, program, words); });
}

void ask_for_words(CLI::App& command) {
  if (auto* program = dynamic_cast<PythonCommand*>(&command)) {
    program->ask();
  }
}

}  // namespace iocomp::command
