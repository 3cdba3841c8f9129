// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "iocomp/find_outputs.h"
#include "iocomp/output.h"
#include "iocomp/subcommands.h"
#include "iocomp/table.h"
#include "reading/input.h"

namespace iocomp::command {
namespace {

constexpr int none_there = 1;

// The facts about the newest step, in the order in which they are printed.
Json newest_of(reading::Input& input) {
  const auto& committed = input.committed();
  if (committed.steps.empty()) {
    throw Error{ErrorCode::not_found, "no step of " + input.name() + " is committed"};
  }
  const auto& newest = committed.steps.back();
  const double time = input.time(newest.number);
  return {{"step", newest.number},
          {"time", std::isnan(time) ? Json{} : Json(time)},
          {"file", committed.text(committed.files.at(static_cast<std::size_t>(newest.file)))}};
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

struct LatestOptions {
  std::string path;
  std::string only;
  bool json = false;
};

void tell(const LatestOptions& options) {
  const Json newest = newest_of(*open(output_at(options.path, Depth::names)));
  if (options.json) {
    print(newest);
  } else if (!options.only.empty()) {
    fmt::print("{}\n", text_of(newest.at(options.only)));
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [key, value] : newest.items()) {
      if (!value.is_null()) {
        rows.push_back({key, text_of(value)});
      }
    }
    fmt::print("{}", aligned(rows));
  }
}

}  // namespace

void add_latest(CLI::App& app) {
  auto options = std::make_shared<LatestOptions>();  // lives as long as the action
  auto* command = app.add_subcommand("latest",
                                     "Print the newest committed step, its time and the file to "
                                     "read; status 1 where there is none");
  command->add_option("PATH", options->path, "A file, or the name of a set of checkpoints")
      ->required();
  auto* only = command->add_option("--only", options->only, "Print this alone, for scripts");
  only->check(CLI::IsMember({"step", "time", "file"}));
  command->add_flag("--json", options->json, "Print it as JSON")->excludes(only);
  command->callback([options] {
    try {
      tell(*options);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::not_found) {
        throw;
      }
      fmt::print(stderr, "iocomp: {}\n", error.what());
      throw CLI::RuntimeError(none_there);
    }
  });
}

}  // namespace iocomp::command
