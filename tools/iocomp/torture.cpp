#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "iocomp/child.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {
namespace {

/// What is installed beside this command, also in a tree that was moved.
std::filesystem::path torture_folder() {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  return (self.parent_path() / IOCOMP_COMMAND_TORTURE).lexically_normal();
}

void torture(const std::vector<std::string>& words) {
  const auto folder = torture_folder();
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
