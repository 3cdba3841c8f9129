// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/folder_targets.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/manifest.h"
#include "commit/read_manifest.h"
#include "contents/description.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "formats/sources.h"
#include "iocomp/clearing.h"
#include "iocomp/find_outputs.h"
#include "iocomp/output.h"
#include "iocomp/settings_here.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {
namespace {

using Fault = Output::Fault;

struct RecoverOptions {
  std::string path;
  std::string format;
  std::string modules;
  bool dry_run = false;
  bool json = false;
};

std::string manifest_of(const std::string& file) { return file + ".json"; }

// A file that was put in the place of another, and whose manifest still holds that of the other.
bool holds_a_replaced_one(const std::string& file) {
  const auto text = commit::manifest_in_force(Path{manifest_of(file)});
  return text && text->find("\"replaces\"") != std::string::npos &&
         text == read_file(manifest_of(file)) &&
         Json::parse(*text, nullptr, false).contains("replaces");
}

bool has_lost_manifest(const Output::File& file) {
  return file.fault == Fault::no_manifest || file.fault == Fault::torn_manifest;
}

bool is_needed(const Output& output) {
  return std::ranges::any_of(output.files, [](const Output::File& file) {
    return file.fault != Fault::none || holds_a_replaced_one(file.path);
  });
}

// The steps of a series follow one another from 0 on; where the file calls them otherwise, these
// are their numbers.
void count_from_0(contents::Inventory& inventory) {
  std::map<std::int64_t, std::int64_t> places;
  for (auto& number : inventory.steps) {
    const auto place = static_cast<std::int64_t>(places.size());
    inventory.names.emplace(place, contents::StepName{.number = number});
    places.emplace(std::exchange(number, place), place);
  }
  for (auto& placed : inventory.contents) {
    placed.number = placed.step;
    placed.step = places.at(placed.step);
  }
}

// The inventory of a file as the file itself tells it. A file of a set has one step, whose number
// is in the file's name.
contents::Inventory inventory_of(const Output& output, const Output::File& file,
                                 const std::string& format, const std::string& modules) {
  auto inventory = formats::open_source(format, Path{file.path}, modules)->inventory();
  if (output.is_set && inventory.steps.size() != 1) {
    throw Error{ErrorCode::storage_failure, "it has " + std::to_string(inventory.steps.size()) +
                                                " steps, its name is that of one"};
  }
  if (file.step >= 0 && inventory.steps.size() == 1) {
    inventory.steps.front() = file.step;
    for (auto& placed : inventory.contents) {
      placed.step = file.step;
    }
  }
  std::erase_if(inventory.contents, [](const auto& placed) { return !placed.was_put; });
  if (inventory.steps.empty()) {
    throw Error{ErrorCode::storage_failure, "it has no step"};
  }
  if (file.step < 0 && inventory.names.empty()) {
    count_from_0(inventory);
  }
  return inventory;
}

contents::Description description_of(contents::Inventory inventory) {
  contents::Description description;
  std::map<std::string, int> ids;
  for (auto& placed : inventory.contents) {
    auto& variable = placed.variable;
    const auto [known, is_new] = ids.emplace(variable.name, static_cast<int>(ids.size()));
    variable.id = known->second;
    if (is_new) {
      description.of_variable.push_back(inventory.of_variable[variable.name]);
    }
  }
  description.contents = std::move(inventory.contents);
  description.attributes = std::move(inventory.attributes);
  description.names = std::move(inventory.names);
  return description;
}

// The name of a file in the program, if nobody tells it: "fields" for "out/fields.h5".
std::string name_from(const std::string& path) {
  const std::string name = name_in_folder(path);
  const auto of_step = commit::name_of_step(name);
  const std::string plain = of_step ? of_step->plain : name;
  const auto dot = plain.rfind('.');
  return dot == std::string::npos || dot == 0 ? plain : plain.substr(0, dot);
}

Deed describe(const Output& output, const Output::File& file, const RecoverOptions& chosen) {
  const std::string name = !chosen.format.empty() ? chosen.format
                           : output.format.empty()
                               ? formats::format_of_file(Path{file.path}, chosen.modules)
                               : output.format;
  auto inventory = inventory_of(output, file, name, chosen.modules);
  const auto steps = inventory.steps;
  std::vector<std::int64_t> numbers;
  std::ranges::transform(steps, std::back_inserter(numbers),
                         [&](std::int64_t step) { return inventory.name_of(step).number; });
  const bool guesses = file.step < 0 && !inventory.tells_numbers;
  const std::string why = "made of what the file says: " + name + ", steps " + steps_text(numbers) +
                          (guesses ? ", counted from 0: it does not say their numbers" : "");
  if (chosen.dry_run) {
    return {manifest_of(file.path), "would write", why};
  }
  make_durable(Path{file.path});  // as a manifest promises
  commit::ManifestHead head;
  head.name = output.name.empty() ? name_from(file.path) : output.name;
  head.format = name;
  const bool is_checkpoint = file.step >= 0 && steps.size() == 1;
  head.kind = !output.kind.empty() ? output.kind : is_checkpoint ? "checkpoint" : "series";
  head.first_step = file.step < 0 ? 0 : steps.front();
  head.steps = steps.back() - head.first_step + 1;
  for (std::int64_t step = head.first_step; step < steps.back(); ++step) {
    if (!std::ranges::binary_search(steps, step)) {
      head.absent.push_back(step);
    }
  }
  head.bytes = size_of_target(Path{file.path});
  head.byte_order = formats::format(name, chosen.modules).traits().byte_order;
  commit::write_manifest(commit::target_names(Path{file.path}, -1, "recover"), head,
                         description_of(std::move(inventory)));
  return {manifest_of(file.path), "written", why};
}

Deed end_replacement(const std::string& file, const RecoverOptions& chosen) {
  const std::string path = manifest_of(file);
  const std::string why = "the file that was replaced is gone; its manifest goes too";
  if (chosen.dry_run) {
    return {path, "would write", why};
  }
  Json manifest = commit::parse_json(read_file(path).value_or(""));
  manifest.erase("replaces");
  commit::unseal(manifest);
  const auto names = commit::target_names(Path{file}, -1, "recover");
  write_durably(names.manifest, names.temporary + ".json", manifest.dump() + '\n');
  return {path, "written", why};
}

// Looks again, since clearing may have changed which manifest is in force.
Output seen_again(const Output& before) {
  for (auto& output : outputs_at(before.path)) {
    if (output.is_set == before.is_set) {
      return std::move(output);
    }
  }
  return before;
}

std::vector<Deed> repair(const Output& found, const RecoverOptions& chosen) {
  if (found.files.empty()) {
    return {};
  }
  const Output output = chosen.dry_run ? found : seen_again(found);
  std::vector<Deed> deeds;
  for (const auto& file : output.files) {
    if (has_lost_manifest(file)) {
      const Outcome outcome = outcome_of([&] { deeds.push_back(describe(output, file, chosen)); });
      if (!outcome.ok()) {
        deeds.push_back({file.path, "left", file.story + "; " + outcome.story});
      }
    } else if (file.fault != Fault::none) {
      deeds.push_back({file.path, "left", file.story});
    } else if (holds_a_replaced_one(file.path)) {
      deeds.push_back(end_replacement(file.path, chosen));
    }
  }
  return deeds;
}

}  // namespace

void add_recover(CLI::App& app) {
  auto chosen = std::make_shared<RecoverOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "recover",
      "Write manifests again that are missing or torn, from what the files say of themselves\n"
      "(hdf5, netcdf, pnetcdf, zarr, adios2). Also does what clean does: so a file that a job was\n"
      "replacing when it died is in force again. Refuses while a job writes the file.");
  command->add_option("PATH", chosen->path, "A folder, a file, or the name of a set of checkpoints")
      ->required();
  command
      ->add_option("--format", chosen->format,
                   "The format of files whose first bytes do not tell it")
      ->type_name("NAME");
  command->add_flag("--dry-run", chosen->dry_run, "Only tell what would be done");
  command->add_flag("--json", chosen->json, "Print it as JSON");
  command->callback([chosen] {
    chosen->modules = modules_here();
    const Repair task{is_needed, [&](const Output& output) { return repair(output, *chosen); }};
    print(clear(outputs_at(chosen->path), chosen->dry_run, task), chosen->json,
          "nothing is to be done in " + chosen->path +
              " (a single file without its manifest is looked at when it is named)");
  });
}

}  // namespace iocomp::command
