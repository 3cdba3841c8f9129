// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>
#include <pthread.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "iocomp/beside.h"
#include "iocomp/misspelling.h"
#include "iocomp/other_programs.h"
#include "iocomp/output.h"
#include "iocomp/own_words.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {
namespace {

constexpr const char* page = "docs/unchanged-programs.md";

/// The libraries that the loader would load for a file, by the names under which it looks for them.
std::vector<std::string> libraries_of(const std::string& file) {
  std::istringstream lines{printed_by({"ldd", file}, Errors::kept)};
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string name;
    if (words >> name && name.find(".so") != std::string::npos) {
      names.push_back(name);
    }
  }
  return names;
}

/// The library whose name begins so, up to the dot or what tells variants apart; empty: none.
std::string library(const std::vector<std::string>& names,
                    const std::vector<std::string_view>& beginnings) {
  for (const std::string& name : names) {
    const bool is_meant = std::ranges::any_of(beginnings, [&name](std::string_view beginning) {
      return name.starts_with(std::string{beginning} + ".so");
    });
    if (is_meant) {
      return name;
    }
  }
  return {};
}

/// The HDF5 and the MPI that a file needs; empty: none.
struct Wants {
  std::string hdf5;
  std::string mpi;
};

Wants wants_of(const std::string& file) {
  const auto names = libraries_of(file);
  return {.hdf5 = library(names, {"libhdf5", "libhdf5_openmpi", "libhdf5_mpich", "libhdf5_serial",
                                  "libhdf5_mpi"}),
          .mpi = library(names, {"libmpi", "libmpich"})};
}

bool contains(const std::string& file, std::string_view text) {
  std::ifstream stream{file, std::ios::binary};
  const std::string all{std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{}};
  return all.find(text) != std::string::npos;
}

/// The number behind ".so.": 103 of libhdf5.so.103; 0 where there is none.
int version_of(const std::string& library) {
  const auto dot = library.rfind('.');
  return dot == std::string::npos ? 0 : std::atoi(library.c_str() + dot + 1);
}

std::vector<std::string> plugins_in(const std::filesystem::path& folder) {
  std::vector<std::string> plugins;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator{folder, none}) {
    if (entry.path().extension() == ".so") {
      plugins.push_back(entry.path().string());
    }
  }
  return plugins;
}

std::string file_of(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return program;
  }
  const auto found = in_path(program);
  if (!found) {
    throw Error{ErrorCode::not_found, "there is no program " + program + " in PATH"};
  }
  return *found;
}

/// @throws Error{unsupported} saying why no plugin fits the program. What a script or an
/// interpreter will load nobody can tell: HDF5 then looks for itself.
void check_fits(const std::string& program, const std::filesystem::path& folder) {
  constexpr int first_with_connectors = 300;  // HDF5 1.14
  const auto refuse = [&program](const std::string& why) {
    throw Error{ErrorCode::unsupported, program + " " + why + " (" + page + ")"};
  };
  const auto plugins = plugins_in(folder);
  if (plugins.empty()) {
    throw Error{ErrorCode::unsupported, "there is no plugin for HDF5 in " + folder.string() +
                                            ": build iocomp with IOCOMP_WITH_HDF5_CONNECTOR=ON (" +
                                            page + ")"};
  }
  const Wants wanted = wants_of(program);
  if (wanted.hdf5.empty()) {
    if (contains(program, "HDF5_PLUGIN_PATH")) {
      refuse("has HDF5 linked statically, which loads no plugins of this kind");
    }
    return;
  }
  if (version_of(wanted.hdf5) < first_with_connectors) {
    refuse("loads " + wanted.hdf5 + ", an HDF5 before 1.14, which loads no plugins of this kind");
  }
  std::string others;
  for (const std::string& plugin : plugins) {
    const Wants offered = wants_of(plugin);
    if (offered.hdf5 == wanted.hdf5 && offered.mpi == wanted.mpi) {
      return;
    }
    others += (others.empty() ? "" : "; ") + offered.hdf5 + " with " + offered.mpi;
  }
  refuse("loads " + wanted.hdf5 + " with " + (wanted.mpi.empty() ? "no MPI" : wanted.mpi) +
         "; the plugin here is for " + others);
}

/// The variables by which HDF5 finds the plugin.
std::map<std::string, std::string> variables(const std::filesystem::path& folder) {
  const char* const others = std::getenv("HDF5_PLUGIN_PATH");
  return {{"HDF5_PLUGIN_PATH",
           folder.string() + (others == nullptr ? std::string{} : ":" + std::string{others})},
          {"HDF5_VOL_CONNECTOR", "iocomp"}};
}

struct RunOptions {
  bool dry_run = false;
  bool json = false;
};

void tell(const std::map<std::string, std::string>& environment,
          const std::vector<std::string>& words, bool json) {
  if (json) {
    print({{"environment", environment}, {"words", words}});
    return;
  }
  std::string line;
  for (const auto& [name, value] : environment) {
    line += name + "=" + quoted(value) + " ";
  }
  for (const auto& word : words) {
    line += quoted(word) + (&word == &words.back() ? "\n" : " ");
  }
  fmt::print("{}", line);
}

void run_program(const std::vector<std::string>& words, const RunOptions& options) {
  const auto folder = beside_command(IOCOMP_COMMAND_MODULES) / "hdf5";
  check_fits(file_of(words.front()), folder);
  const auto environment = variables(folder);
  if (options.dry_run) {
    tell(environment, words, options.json);
    return;
  }
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  sigset_t held;  // by this command, and the program would have it so, too
  sigemptyset(&held);
  sigaddset(&held, SIGXFSZ);
  pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());  // in place of this command: a launcher waits for it
  throw Error{ErrorCode::unsupported,
              "cannot start " + words.front() + ": " + std::strerror(errno)};
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& words) {
  auto options = std::make_shared<RunOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "run", "Run a program of HDF5, unchanged, so that it writes through iocomp");
  command->prefix_command();
  auto* dry_run = command->add_flag("--dry-run", options->dry_run,
                                    "Print the program with the variables it gets, start nothing");
  command->add_flag("--json", options->json, "With --dry-run: print it as JSON")->needs(dry_run);
  command->footer(
      "iocomp run [OPTIONS] [--] PROGRAM [ARGUMENTS]; under a launcher: mpirun -n 8 iocomp run "
      "PROGRAM");
  command->callback([command, options, words] {
    if (!command->remaining().empty()) {
      throw unexpected(*command->get_parent());
    }
    auto begin = words.begin() + static_cast<std::ptrdiff_t>(own_words(*command, words));
    if (begin != words.end() && *begin == "--") {
      ++begin;
    }
    if (begin == words.end()) {
      throw Error{ErrorCode::invalid_argument,
                  "iocomp run needs a program: " + command->get_footer()};
    }
    run_program({begin, words.end()}, *options);
  });
}

}  // namespace iocomp::command
