// SPDX-License-Identifier: BSD-3-Clause
#include "commit/manifest.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/json_values.h"
#include "commit/rename_target.h"

namespace iocomp::commit {
namespace {

// Round the checksum of all that stands before.
const std::string before_seal = std::string{",\n \""} + sums_key + "\": \"";
constexpr const char* behind_seal = "\"\n}\n";

std::string field(const char* name, const Json& value) {
  return one_line(name) + ": " + one_line(value);
}

std::string of_server(const TargetNames& names, std::string_view ending) {
  return names.temporary + std::string{server_ending} + std::string{ending};
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
      all[name] = json(description.of_variable[index]);
    }
  }
  return all;
}

// What stands before the lines of the steps, and behind.
std::pair<std::string, std::string> frame(const TargetNames& names, const ManifestHead& head,
                                          const ToldSteps& told, bool has_steps,
                                          const contents::Description& description) {
  const std::vector<std::string> before{
      field("iocomp_manifest", manifest_version),
      field("name", head.name),
      field("format", head.format),
      field("kind", head.kind),
      field("file", name_in_folder(names.target)),
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
    Json manifest = Json::parse(*head.replaced, nullptr, false);
    unseal(manifest);
    Json replaces{{"temporary", name_in_folder(names.temporary)},
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

// What ends a manifest.
std::string sealed(const std::vector<std::string_view>& parts) {
  array::Checksum checksum{array::ElementType::uint8};
  for (const auto part : parts) {
    checksum.add(std::as_bytes(std::span{part}));
  }
  return before_seal + array::hex(checksum.value()) + behind_seal;
}

}  // namespace

void tell(ToldSteps& told, const contents::Description& description) {
  told.lines.add(description);
  for (const auto& placed : description.contents) {
    told.variables.try_emplace(placed.variable.id, placed.variable.name);
  }
}

NewFile begin_manifest(const TargetNames& names, const ManifestHead& head,
                       const contents::Description& description, const ToldSteps& earlier) {
  ToldSteps with_new;
  if (!description.contents.empty()) {
    with_new = earlier;
    tell(with_new, description);
  }
  const ToldSteps& told = description.contents.empty() ? earlier : with_new;
  const auto lines = told.lines.text();
  const auto [first, last] = frame(names, head, told, !lines.empty(), description);
  std::vector<std::string_view> parts{first};
  for (const auto& text : lines) {
    parts.emplace_back(*text);
  }
  parts.emplace_back(last);
  const auto seal = sealed(parts);
  parts.emplace_back(seal);
  return {names.manifest, beside_temporary(names, ".json"), parts};
}

void write_manifest(const TargetNames& names, const ManifestHead& head,
                    const contents::Description& description, const ToldSteps& earlier) {
  begin_manifest(names, head, description, earlier).appear(names.may_appear);
}

void unseal(Json& manifest) {
  if (manifest.is_object()) {
    manifest.erase(sums_key);
  }
}

void check_seal(std::string_view text, const Json& manifest) {
  if (!manifest.contains(sums_key)) {
    return;
  }
  const auto at = text.rfind(before_seal);
  if (at == std::string_view::npos || text.substr(at) != sealed({text.substr(0, at)})) {
    throw Error{ErrorCode::storage_failure,
                std::string{"it was changed since iocomp has written it: its checksum (\""} +
                    sums_key + "\") does not fit; a manifest without that entry is not checked"};
  }
}

std::string beside_temporary(const TargetNames& names, std::string_view ending) {
  return names.may_appear ? of_server(names, ending) : names.temporary + std::string{ending};
}

void remove_server_files(const TargetNames& names) noexcept {
  for (const char* const ending : {".json", ".xdmf"}) {
    ::unlink(of_server(names, ending).c_str());
  }
}

}  // namespace iocomp::commit
