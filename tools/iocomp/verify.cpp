// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "array/box.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "base/path.h"
#include "iocomp/find_outputs.h"
#include "iocomp/output.h"
#include "iocomp/settings_here.h"
#include "iocomp/subcommands.h"
#include "reading/check_sums.h"
#include "reading/input.h"

namespace iocomp::command {
namespace {

constexpr int damaged = 1;

constexpr std::int64_t no_step = -1;  // of a finding about all that is there

Json json(const reading::Finding& found) {
  Json entry{{"step", found.step == no_step ? Json{} : Json(found.step)}, {"story", found.story}};
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
  const std::string step = found.step == no_step ? "" : "step " + std::to_string(found.step);
  fmt::print("{}{}{}{}{}\n", found.path.empty() ? "" : found.path + ": ", step,
             found.variable.empty() ? "" : ", variable \"" + found.variable + '"',
             step.empty() ? "" : ": ", found.story);
}

std::string verdict(const reading::Checked& checked, std::size_t damaged_blocks) {
  if (damaged_blocks > 0) {
    return std::to_string(damaged_blocks) + " damaged";
  }
  return checked.blocks > 0 ? "all are as they were put"
                            : "nothing to compare (files.*.checksum = \"xxh3\" gives checksums)";
}

// The job that writes a set may have removed an old checkpoint since the set was looked at.
bool is_removed(const Output& output, const reading::Finding& found) {
  if (!output.is_set || found.step == no_step ||
      (!found.path.empty() && Path{found.path}.is_there())) {
    return false;
  }
  const auto now = output_at(output.path, Depth::names);
  return std::ranges::find(now.files, found.step, &Output::File::step) == now.files.end();
}

void verify(const std::string& path, bool as_json) {
  const auto output = output_at(path, Depth::names);
  Json findings = Json::array();
  const auto add = [&](const reading::Finding& found) {
    if (is_removed(output, found)) {
      return;
    }
    findings.push_back(json(found));
    if (!as_json) {
      tell(found);
    }
  };
  std::unique_ptr<reading::Input> input;
  reading::Checked checked;
  const Outcome opened = outcome_of([&] { input = open(output); });
  if (opened.code == ErrorCode::storage_failure) {
    add({.path = {}, .step = no_step, .story = opened.story});
  } else {
    opened.throw_unless_ok();
    checked = reading::check_all(input->committed(), modules_here(), add);
  }
  const std::size_t steps = input ? input->committed().steps.size() : 0;
  if (as_json) {
    print(Json{{"path", path},
               {"steps", steps},
               {"blocks", checked.blocks},
               {"bytes", checked.bytes},
               {"elements_without_checksum", checked.elements_without},
               {"damaged", findings}});
  } else {
    fmt::print("{}: {} step{}, {} blocks with a checksum ({}): {}\n", path, steps,
               steps == 1 ? "" : "s", checked.blocks, format_bytes(checked.bytes),
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
