// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/small_files.h"
#include "formats/link_file.h"
#include "iocomp/find_outputs.h"
#include "iocomp/output.h"
#include "iocomp/settings_here.h"
#include "iocomp/subcommands.h"
#include "iocomp/table.h"
#include "reading/committed.h"
#include "reading/input.h"
#include "vtkhdf/grids.h"
#include "vtkhdf/links.h"

namespace iocomp::command {
namespace {

constexpr std::string_view ending = ".vtkhdf";

struct DescribeOptions {
  std::string path;
  std::string output;
  bool json = false;
};

/// A grid, and the file that describes it.
struct Described {
  std::string path;
  vtkhdf::Grid grid;
};

// "out/u.h5.vtkhdf"; where there are several grids "out/u.h5.128x64.vtkhdf".
std::string path_of(std::string base, const std::string& grid, bool is_alone) {
  if (base.ends_with(ending)) {
    base.resize(base.size() - ending.size());
  }
  return base + (is_alone ? "" : '.' + grid) + std::string{ending};
}

void write(const std::string& path, const formats::LinkFile& file, const std::string& modules) {
  const auto image = formats::image_of(file, modules);
  const Path to{path};
  write_durably(to, to.beside('.' + to.name() + ".new"),
                {reinterpret_cast<const char*>(image.data()), image.size()});
}

void print_table(const std::vector<Described>& all, const std::vector<vtkhdf::LeftOut>& left_out) {
  std::vector<std::vector<std::string>> rows{{"file", "grid", "steps", "variables"}};
  for (const auto& [path, grid] : all) {
    std::string names;
    for (const auto& name : grid.variables) {
      names += (names.empty() ? "" : ", ") + name;
    }
    rows.push_back({path, grid.kind, steps_text(grid.steps), names});
  }
  fmt::print("{}", aligned(rows));
  for (const auto& [variable, reason] : left_out) {
    fmt::print("left out: {}: {}\n", variable, reason);
  }
}

void print_json(const std::vector<Described>& all, const std::vector<vtkhdf::LeftOut>& left_out) {
  Json told{{"files", Json::array()}, {"left_out", Json::array()}};
  for (const auto& [path, grid] : all) {
    told["files"].push_back({{"path", path},
                             {"grid", grid.kind},
                             {"steps", grid.steps},
                             {"variables", grid.variables}});
  }
  for (const auto& [variable, reason] : left_out) {
    told["left_out"].push_back({{"variable", variable}, {"reason", reason}});
  }
  print(told);
}

// A description takes the place of what has its name.
void check_is_free(const std::string& path, const reading::Committed& committed) {
  if (address_of(folder_of(path)).path == committed.folder.path &&
      std::ranges::find(committed.files, name_in_folder(path), &reading::Committed::File::name) !=
          committed.files.end()) {
    throw Error{ErrorCode::invalid_argument,
                "the description would take the place of " + path +
                    ", which has the values; give it another name by --output"};
  }
}

void check_is_none(const reading::Committed& committed, const std::string& path) {
  const std::string group = std::string{vtkhdf::root} + '/';
  if (std::ranges::any_of(committed.variables, [&](const reading::Committed::Variable& variable) {
        return variable.name.starts_with(group);
      })) {
    throw Error{ErrorCode::invalid_argument,
                path + " is a VTKHDF file, which ParaView opens without a description"};
  }
}

void describe(const DescribeOptions& options) {
  const Output output = output_at(options.path, Depth::names);
  const auto input = open(output);
  check_is_none(input->committed(), output.path);
  const std::string base = options.output.empty() ? output.path : options.output;
  const auto& folder = input->committed().folder.path;
  auto found = vtkhdf::grids_of(*input, address_of(folder_of(base)).path == folder);
  if (found.grids.empty()) {
    throw Error{ErrorCode::unsupported,
                output.path + " has no variable that VTK shows" +
                    (found.left_out.empty() ? ""
                                            : ": " + found.left_out.front().variable + ": " +
                                                  found.left_out.front().reason)};
  }
  const std::string modules = modules_here();
  std::vector<Described> all;
  for (auto& grid : found.grids) {
    all.push_back({path_of(base, grid.name, found.grids.size() == 1), std::move(grid)});
    check_is_free(all.back().path, input->committed());
  }
  for (const auto& [path, grid] : all) {
    write(path, grid.file, modules);
  }
  options.json ? print_json(all, found.left_out) : print_table(all, found.left_out);
}

}  // namespace

void add_describe(CLI::App& app) {
  auto options = std::make_shared<DescribeOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "describe",
      "Write a small VTKHDF file beside a file, with which ParaView and VTK open it. It links to\n"
      "the values, which stay where they are. Call it again when there are more steps.");
  command->add_option("PATH", options->path, "A file, or the name of a set of checkpoints")
      ->required();
  command->add_option("--output", options->output, "The VTKHDF file to write [PATH.vtkhdf]")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print it as JSON");
  command->callback([options] { describe(*options); });
}

}  // namespace iocomp::command
