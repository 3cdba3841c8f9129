// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_size.h"
#include "commit/owner.h"
#include "iocomp/find_outputs.h"
#include "iocomp/output.h"
#include "iocomp/subcommands.h"
#include "iocomp/table.h"

namespace iocomp::command {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string table(const std::vector<Output>& outputs) {
  std::vector<std::vector<std::string>> rows{{"file", "format", "kind", "steps", "size", "state"}};
  for (const auto& output : outputs) {
    rows.push_back({output.path, or_dash(output.format), or_dash(output.kind),
                    steps_text(output.steps), format_bytes(output.bytes), output.told()});
  }
  return outputs.empty() ? "" : aligned(rows);
}

Json json_of(const Output& output) {
  Json steps;
  if (!output.steps.empty()) {
    steps = {{"first", output.steps.front()},
             {"last", output.steps.back()},
             {"count", output.steps.size()}};
  }
  Json torn = Json::array();
  for (const auto& file : output.files) {
    if (file.fault != Output::Fault::none) {
      torn.push_back({{"file", file.path}, {"story", file.story}});
    }
  }
  return {{"path", output.path},
          {"name", output.name},
          {"format", output.format},
          {"kind", output.kind},
          {"file_per_step", output.is_set},
          {"steps", steps},
          {"bytes", output.bytes},
          {"state", word(output.state())},
          {"told", output.told()},
          {"job", output.holder.job},
          {"temporaries", output.temporaries},
          {"torn", torn}};
}

}  // namespace

void add_ls(CLI::App& app) {
  struct Choice {
    std::string path = ".";
    bool json = false;
  };
  auto choice = std::make_shared<Choice>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "ls",
      "List what iocomp has written: format, committed steps, size, and in which state it is");
  command->add_option("PATH", choice->path, "A folder, a file, or the name of a set of checkpoints")
      ->capture_default_str();
  command->add_flag("--json", choice->json, "Print it as JSON");
  command->callback([choice] {
    const auto outputs = outputs_at(choice->path);
    if (choice->json) {
      Json all = Json::array();
      for (const auto& output : outputs) {
        all.push_back(json_of(output));
      }
      print(all);
      return;
    }
    if (outputs.empty()) {
      fmt::print(stderr, "iocomp: nothing in {} was written by iocomp\n", choice->path);
    }
    fmt::print("{}", table(outputs));
  });
}

}  // namespace iocomp::command
