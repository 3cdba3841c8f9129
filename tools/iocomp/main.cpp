// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/our_words.h"
#include "base/size_signal.h"
#include "iocomp/python_program.h"
#include "iocomp/subcommands.h"

namespace {

constexpr int bad_input = 2;
constexpr int own_failure = 1;

int run(int argc, char** argv) {
  CLI::App app{"iocomp: parallel output that costs an MPI simulation nothing"};
  app.set_version_flag("--version", "iocomp " IOCOMP_COMMAND_VERSION);
  app.require_subcommand(1);
  const std::vector<std::string> behind(argv + std::min(argc, 2), argv + argc);
  iocomp::command::add_advise(app, behind);
  iocomp::command::add_clean(app);
  iocomp::command::add_config(app);
  iocomp::command::add_info(app);
  iocomp::command::add_latest(app);
  iocomp::command::add_launch(app);
  iocomp::command::add_ls(app);
  iocomp::command::add_map(app);
  iocomp::command::add_numa(app);
  iocomp::command::add_recover(app);
  iocomp::command::add_run(app, behind);
  iocomp::command::add_show(app);
  iocomp::command::add_study(app, behind);
  iocomp::command::add_torture(app, behind);
  iocomp::command::add_trace(app);
  iocomp::command::add_verify(app);
  const bool is_python = argc > 1 && iocomp::command::is_python_program(app, argv[1]);
  try {
    app.parse(is_python ? 2 : argc, argv);
  } catch (const CLI::RuntimeError& status) {  // of a program that was started
    return status.get_exit_code();
  } catch (const CLI::ParseError& error) {  // --help and --version are such too, with status 0
    return app.exit(error) == 0 ? 0 : bad_input;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const iocomp::SizeSignalHeld held;
  try {
    const int status = run(argc, argv);
    return std::fflush(stdout) == 0 ? status : own_failure;
  } catch (const iocomp::Error& error) {
    fmt::print(stderr, "iocomp: {}\n", error.what());
    return error.code() == iocomp::ErrorCode::internal ? own_failure : bad_input;
  } catch (const std::exception& error) {
    fmt::print(stderr, "iocomp: {}\n", iocomp::in_our_words(error));
    return own_failure;
  }
}
