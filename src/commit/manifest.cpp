// SPDX-License-Identifier: BSD-3-Clause
#include "commit/manifest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/json_values.h"
#include "commit/rename_target.h"
#include "commit/step_lines.h"
#include "contents/description.h"

namespace iocomp::commit {
namespace {

// The text before and behind the checksum of a manifest.
const std::string before_seal = std::string{",\n \""} + sums_key + "\": \"";
constexpr const char* behind_seal = "\"\n}\n";
// then readers need only the simplest case of the checksum
constexpr std::size_t least_summed_bytes = 129;

std::string field(const char* name, const Json& value) {
  return one_line(name) + ": " + one_line(value);
}

Path of_server(const TargetNames& names, std::string_view ending) {
  return names.temporary + (std::string{server_ending} + std::string{ending});
}

Json variable_attributes(const ToldSteps& told, const contents::Description& description) {
  Json all = Json::object();
  for (const auto& [name, attributes] : told.of_variable) {
    if (!attributes.empty()) {
      all[name] = json(attributes);
    }
  }
  for (const auto& [id, name] : told.variables) {
    const auto index = static_cast<std::size_t>(id);
    if (index < description.of_variable.size() && !description.of_variable[index].empty()) {
      auto attributes = description.of_variable[index];
      if (const auto earlier = told.of_variable.find(name); earlier != told.of_variable.end()) {
        attributes.insert(earlier->second.begin(), earlier->second.end());
      }
      all[name] = json(attributes);
    }
  }
  return all;
}

std::string checksum_of(const std::vector<std::string_view>& parts) {
  array::Checksum checksum{array::ElementType::uint8};
  for (const auto part : parts) {
    checksum.add(std::as_bytes(std::span{part}));
  }
  return array::hex(checksum.value());
}

// The checksum that ends a manifest.
std::string sealed(const std::vector<std::string_view>& parts) {
  return before_seal + checksum_of(parts) + behind_seal;
}

void check_version(const Json& manifest) {
  const auto version = integer_from(manifest.at("iocomp_manifest"));
  if (version > manifest_version) {
    throw Error{ErrorCode::unsupported,
                "it is of a later release of iocomp: it has version " + std::to_string(version) +
                    ", this release reads up to version " + std::to_string(manifest_version)};
  }
}

[[noreturn]] void refuse_changed() {
  throw Error{ErrorCode::storage_failure,
              std::string{"it was changed since iocomp has written it: its checksum (\""} +
                  sums_key + "\") does not fit; a manifest without that entry is not checked"};
}

void check_seal(std::string_view text, const Json& manifest) {
  if (!manifest.contains(sums_key)) {
    return;
  }
  const auto at = text.rfind(before_seal);
  if (at == std::string_view::npos || text.substr(at) != sealed({text.substr(0, at)})) {
    refuse_changed();
  }
}

bool is_sealed(std::string_view line) {
  const auto at = line.rfind(std::string{",\""} + sums_key + '"');
  return at != std::string_view::npos && line == sealed_line(std::string{line.substr(0, at)});
}

// The manifest without the lines that were added. It ends with a brace on a line of its own.
std::string_view without_lines(std::string_view text) {
  constexpr std::string_view end = "\n}\n";
  const auto at = text.find(end);
  return at == std::string_view::npos ? text : text.substr(0, at + end.size());
}

void add_all(Json& list, const Json& more) {
  for (const auto& each : more) {
    list.push_back(each);
  }
}

void continue_entry(Json& entry, const Json& more) {
  const auto count = integer_from(more.at("count"));
  if (count < 1 || count > contents::most_silent_steps) {
    refuse_changed();
  }
  if (more.contains("advance")) {
    std::size_t i = 0;
    for (auto& variable : entry.at("variables")) {
      if (integer_from(variable.at("offset")) >= 0) {
        variable["advance"] = more.at("advance").at(i);
      }
      ++i;
    }
  }
  if (more.contains("time")) {
    auto& times = entry.at("time");
    if (!times.is_array()) {
      times = Json::array({times});
    }
    add_all(times, more.at("time"));
  }
  const auto before = entry.contains("count") ? integer_from(entry.at("count")) : 1;
  if (before > contents::most_silent_steps) {
    refuse_changed();
  }
  entry["count"] = before + count;
}

void take_in(Json& manifest, const Json& line) {
  for (const char* const name : {"bytes", "committed_steps", "absent"}) {
    manifest[name] = line.at(name);
  }
  auto& steps = manifest.at("steps");
  if (line.contains("more")) {
    continue_entry(steps.at(steps.size() - 1), line.at("more"));
  } else {
    add_all(steps, line.at("steps"));
  }
}

// Adds the lines to the manifest. A torn line at the end is of a commit that did not end. @return
// false if a sound line follows a torn one.
bool take_in_lines(Json& manifest, std::string_view lines) {
  bool is_torn = false;
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    const auto line = lines.substr(0, end == std::string_view::npos ? end : end + 1);
    lines.remove_prefix(line.size());
    if (!is_sealed(line)) {
      is_torn = true;
    } else if (is_torn) {
      return false;
    } else {
      take_in(manifest, parse_json(line));
    }
  }
  return true;
}

// A manifest in force, as it is kept inside another one. A file that it had replaced itself is
// gone.
Json as_it_is(std::string_view text) {
  const auto first = without_lines(text);
  Json manifest;
  try {
    manifest = parse_json(first);
    if (manifest.is_object()) {
      manifest.erase("replaces");
      if (manifest.contains("steps")) {
        (void)take_in_lines(manifest, text.substr(first.size()));
      }
    }
  } catch (const std::exception&) {  // told by whoever reads the file
  }
  return manifest;
}

// The text before the lines of the steps, and the text behind them.
std::pair<std::string, std::string> frame(const TargetNames& names, const ManifestHead& head,
                                          const ToldSteps& told, bool has_steps,
                                          const contents::Description& description) {
  const std::vector<std::string> before{
      field("iocomp_manifest", manifest_version),
      field("name", head.name),
      field("format", head.format),
      field("kind", head.kind),
      field("file", names.target.name()),
      field("bytes", head.bytes),
      field("byte_order", head.byte_order == std::endian::little ? "little" : "big"),
      field("first_step", head.first_step),
      field("committed_steps", head.steps)};
  contents::Attributes attributes = description.attributes;
  attributes.insert(told.attributes.begin(), told.attributes.end());
  std::vector<std::string> behind{
      field("absent", head.absent), field("attributes", json(attributes)),
      field("variable_attributes", variable_attributes(told, description))};
  if (head.replaced) {
    Json manifest = as_it_is(*head.replaced);
    unseal(manifest);
    Json replaces{{"temporary", names.temporary.name()},
                  {"manifest", manifest.is_object() ? manifest : Json{}}};
    if (!names.folder_mark.empty()) {
      replaces["inode"] = inode_of(names.temporary);
    }
    behind.push_back(field("replaces", replaces));
  }
  if (!head.supersedes.empty()) {
    Json steps = Json::object();
    for (const auto& [step, identity] : head.supersedes) {
      steps[std::to_string(step)] = identity;
    }
    behind.push_back(field("supersedes", steps));
  }
  std::string first;
  for (const auto& each : before) {
    first += (first.empty() ? "{\n " : ",\n ") + each;
  }
  std::string last = has_steps ? "\n ]" : "]";
  for (const auto& each : behind) {
    last += ",\n " + each;
  }
  return {first + ",\n \"steps\": [", last};
}

// Refuses to commit a manifest that is too long for readers.
void check_length(const std::string& path, const std::vector<std::string_view>& parts) {
  std::size_t bytes = 0;
  for (const auto part : parts) {
    bytes += part.size();
  }
  if (bytes > static_cast<std::size_t>(longest_text_bytes)) {
    throw Error{ErrorCode::storage_failure,
                "the manifest " + path + " would have " + std::to_string(bytes) +
                    " bytes, readers take " + std::to_string(longest_text_bytes) +
                    ": it lists each block with its checksum, and the variables of each step; "
                    "checksum = \"none\" or kind = \"file_per_step\" make it shorter"};
  }
}

}  // namespace

std::string manifest_line(const ManifestHead& head, const std::optional<std::string>& more,
                          const StepLines& fresh) {
  std::string line = '{' + field("bytes", head.bytes) + ", " +
                     field("committed_steps", head.steps) + ", " + field("absent", head.absent);
  if (more) {
    line += ", \"more\": " + *more;
  } else {
    line += ", \"steps\": [";
    for (const auto& text : fresh.text()) {
      line += *text;
    }
    std::erase(line, '\n');
    line += ']';
  }
  line.append(least_summed_bytes - std::min(least_summed_bytes, line.size()), ' ');
  return sealed_line(std::move(line));
}

std::string sealed_line(std::string line) {
  const std::string checksum = checksum_of({line});
  return std::move(line) + ",\"" + sums_key + "\":\"" + checksum + "\"}\n";
}

Json whole_manifest(std::string_view text) {
  const auto first = without_lines(text);
  Json manifest = parse_json(first);
  check_version(manifest);
  check_seal(first, manifest);
  if (!take_in_lines(manifest, text.substr(first.size()))) {
    refuse_changed();
  }
  return manifest;
}

void tell(ToldSteps& told, const contents::Description& description) {
  told.lines.add(description);
  for (const auto& placed : description.contents) {
    told.variables.try_emplace(placed.variable.id, placed.variable.name);
  }
}

NewFile begin_manifest(const TargetNames& names, const ManifestHead& head,
                       const contents::Description& description, const ToldSteps& earlier) {
  const bool has_new = !description.contents.empty() || !description.names.empty();
  ToldSteps with_new;
  if (has_new) {
    with_new = earlier;
    tell(with_new, description);
  }
  const ToldSteps& told = has_new ? with_new : earlier;
  const auto lines = told.lines.text();
  const auto [first, last] = frame(names, head, told, !lines.empty(), description);
  std::vector<std::string_view> parts{first};
  for (const auto& text : lines) {
    parts.emplace_back(*text);
  }
  parts.emplace_back(last);
  const auto seal = sealed(parts);
  parts.emplace_back(seal);
  check_length(names.manifest.text(), parts);
  return {names.manifest, beside_temporary(names, ".json"), parts};
}

void write_manifest(const TargetNames& names, const ManifestHead& head,
                    const contents::Description& description, const ToldSteps& earlier) {
  begin_manifest(names, head, description, earlier).appear();
}

void unseal(Json& manifest) {
  if (manifest.is_object()) {
    manifest.erase(sums_key);
  }
}

Path beside_temporary(const TargetNames& names, std::string_view ending) {
  return names.temporary.folder().has_fence() ? of_server(names, ending)
                                              : names.temporary + std::string{ending};
}

void remove_server_files(const TargetNames& names) noexcept {
  for (const char* const ending : {".json", trial_ending}) {
    names.temporary.folder().unlink(of_server(names, ending).name());
  }
}

}  // namespace iocomp::commit
