// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/our_words.h"
#include "base/size_signal.h"
#include "iocomp/misspelling.h"
#include "iocomp/own_words.h"
#include "iocomp/subcommands.h"

namespace {

namespace command = iocomp::command;

// For scripts, 0 is yes and 1 is no. Subcommands throw 1 themselves.
constexpr int bad_input = 2;
constexpr int own_failure = 3;

using Add = std::function<void(CLI::App&)>;

void add_group(CLI::App& app, const std::string& heading, const std::vector<Add>& members) {
  const auto all = [&app] { return app.get_subcommands([](const CLI::App*) { return true; }); };
  const auto before = static_cast<std::ptrdiff_t>(all().size());
  for (const auto& add : members) {
    add(app);
  }
  const auto now = all();
  std::for_each(now.begin() + before, now.end(), [&](CLI::App* one) { one->group(heading); });
}

// The number of words of the command line that CLI11 may see.
int seen_words(const CLI::App& app, const std::string& name, const std::vector<std::string>& behind,
               int all) {
  const auto named =
      app.get_subcommands([&name](const CLI::App* one) { return one->get_name() == name; });
  return named.empty() ? all : 2 + static_cast<int>(command::own_words(*named.front(), behind));
}

int run(int argc, char** argv) {
  CLI::App app{"iocomp: parallel output that costs an MPI simulation nothing", "iocomp"};
  app.set_version_flag("--version", "iocomp " IOCOMP_COMMAND_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* asked, const CLI::Error& error) {
    return "iocomp: " + CLI::FailureMessage::simple(asked, error);
  });
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const std::vector<std::string> behind(argv + std::min(argc, 2), argv + argc);
  const auto with_words = [&behind](auto add) {
    return [add, &behind](CLI::App& to) { add(to, behind); };
  };
  add_group(app, "Files",
            {command::add_ls, command::add_show, command::add_watch, command::add_latest,
             command::add_describe, command::add_verify, command::add_clean, command::add_recover});
  add_group(app, "Jobs",
            {command::add_map, command::add_launch, with_words(command::add_run),
             with_words(command::add_advise)});
  add_group(app, "Measurements",
            {with_words(command::add_study), command::add_trace, command::add_numa,
             with_words(command::add_torture)});
  add_group(app, "This installation",
            {with_words(command::add_check_site), command::add_config, command::add_info});
  add_group(app, "",  // for machines
            {with_words(command::add_complete), command::add_manual, command::add_site_rank});
  command::check_subcommand(app, words);
  try {
    app.parse(argc > 1 ? seen_words(app, argv[1], behind, argc) : argc, argv);
  } catch (const CLI::RuntimeError& status) {  // "no", or of a program that was started
    return status.get_exit_code();
  } catch (const CLI::ExtrasError&) {
    throw command::unexpected(app);
  } catch (const CLI::ParseError& error) {  // --help and --version are such too, with status 0
    return app.exit(error) == 0 ? 0 : bad_input;
  }
  return 0;
}

// The text that a command prints is its result. A buffer may hold all of it until the end.
int written(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    return status;
  }
  fmt::print(stderr, "iocomp: cannot write to the standard output\n");
  return bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  const iocomp::SizeSignalHeld held;
  try {
    return written(run(argc, argv));
  } catch (const iocomp::Error& error) {
    fmt::print(stderr, "iocomp: {}\n", error.what());
    return error.code() == iocomp::ErrorCode::internal ? own_failure : bad_input;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) {
      return written(own_failure);
    }
    fmt::print(stderr, "iocomp: {}\n", iocomp::in_our_words(error));
    return own_failure;
  }
}
