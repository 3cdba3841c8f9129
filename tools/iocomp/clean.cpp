// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "iocomp/clearing.h"
#include "iocomp/find_outputs.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {

void add_clean(CLI::App& app) {
  struct Choice {
    std::string path;
    bool dry_run = false;
    bool json = false;
  };
  auto choice = std::make_shared<Choice>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "clean", "Remove what dead jobs have left: temporaries and locks. What a job writes stays");
  command->add_option("PATH", choice->path, "A folder, a file, or the name of a set of checkpoints")
      ->required();
  command->add_flag("--dry-run", choice->dry_run, "Only tell what would be removed");
  command->add_flag("--json", choice->json, "Print it as JSON");
  command->callback([choice] {
    Deeds deeds = clear(outputs_at(choice->path), choice->dry_run);
    clear_momentary(choice->path, choice->dry_run, deeds);
    print(deeds, choice->json, "nothing is left of dead jobs in " + choice->path);
  });
}

}  // namespace iocomp::command
