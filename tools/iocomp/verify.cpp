// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "array/box.h"
#include "base/byte_size.h"
#include "iocomp/find_outputs.h"
#include "iocomp/output.h"
#include "iocomp/settings_here.h"
#include "iocomp/subcommands.h"
#include "reading/check_sums.h"

namespace iocomp::command {
namespace {

constexpr int damaged = 1;

Json json(const reading::Finding& found) {
  Json entry{{"step", found.step}, {"story", found.story}};
  if (!found.path.empty()) {
    entry["file"] = found.path;
  }
  if (found.box) {
    const auto dimensions = found.box->dimensions;
    entry["variable"] = found.variable;
    entry["start"] = std::vector(found.box->start.begin(), found.box->start.begin() + dimensions);
    entry["count"] = std::vector(found.box->count.begin(), found.box->count.begin() + dimensions);
  }
  return entry;
}

void tell(const reading::Finding& found) {
  fmt::print("{}step {}{}: {}\n", found.path.empty() ? "" : found.path + ": ", found.step,
             found.variable.empty() ? "" : ", variable \"" + found.variable + '"', found.story);
}

std::string verdict(const reading::Checked& checked, std::size_t damaged_blocks) {
  if (damaged_blocks > 0) {
    return std::to_string(damaged_blocks) + " damaged";
  }
  return checked.blocks > 0 ? "all are as they were put"
                            : "nothing to compare (files.*.checksum = \"xxh3\" gives checksums)";
}

void verify(const std::string& path, bool as_json) {
  const auto modules = modules_here();
  const auto input = open(output_at(path, Depth::names));
  const auto& committed = input->committed();
  Json findings = Json::array();
  const auto checked = reading::check_all(committed, modules, [&](const reading::Finding& found) {
    findings.push_back(json(found));
    if (!as_json) {
      tell(found);
    }
  });
  if (as_json) {
    print(Json{{"path", path},
               {"steps", committed.steps.size()},
               {"blocks", checked.blocks},
               {"bytes", checked.bytes},
               {"elements_without_checksum", checked.elements_without},
               {"damaged", findings}});
  } else {
    fmt::print("{}: {} step{}, {} blocks with a checksum ({}): {}\n", path, committed.steps.size(),
               committed.steps.size() == 1 ? "" : "s", checked.blocks, format_bytes(checked.bytes),
               verdict(checked, findings.size()));
    if (checked.elements_without > 0) {
      fmt::print("{}: {} elements without a checksum\n", path, checked.elements_without);
    }
  }
  if (!findings.empty()) {
    throw CLI::RuntimeError{damaged};
  }
}

}  // namespace

void add_verify(CLI::App& app) {
  struct Choice {
    std::string path;
    bool json = false;
  };
  auto choice = std::make_shared<Choice>();  // lives as long as the action
  auto* command =
      app.add_subcommand("verify", "Read all values, and name what is damaged or cannot be read");
  command
      ->add_option(
          "path", choice->path,
          "A file of iocomp; of checkpoints that of one step, or the path in the settings, "
          "which means all")
      ->required();
  command->add_flag("--json", choice->json, "Print it as JSON");
  command->callback([choice] { verify(choice->path, choice->json); });
}

}  // namespace iocomp::command
