#include "commit/manifest.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/json_values.h"
#include "commit/rename_target.h"

namespace iocomp::commit {
namespace {

// From here on a text is shared as it is; shorter ones are copied, with what follows.
constexpr std::size_t enough_text = std::size_t{128} << 10;

std::string line(const Json& value) {
  // Names are the user's: bytes that are no UTF-8 must not make the manifest impossible.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string field(const char* name, const Json& value) { return line(name) + ": " + line(value); }

// Whether a text stands in JSON as it is.
bool is_plain(const std::string& text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

std::string list(const array::Extents& numbers, int dimensions) {
  std::string text = "[";
  for (int d = 0; d < dimensions; ++d) {
    text += (d == 0 ? "" : ",") + std::to_string(numbers[static_cast<std::size_t>(d)]);
  }
  return text + ']';
}

void add_sums(std::string& text, const std::vector<contents::BlockSum>& sums) {
  text += std::string{",\""} + sums_key + "\":[";
  const char* separator = "";
  for (const auto& [box, checksum] : sums) {
    text += std::exchange(separator, ",");
    text += '[' + list(box.start, box.dimensions) + ',' + list(box.count, box.dimensions) + ",\"" +
            array::hex(checksum) + "\"]";
  }
  text += ']';
}

// Put together by hand: there may be hundreds of them in each step.
void add_variable(std::string& text, const contents::Placed& placed) {
  const std::string& name = placed.variable.name;
  text += "{\"name\":";
  text += is_plain(name) ? '"' + name + '"' : line(name);
  text += ",\"type\":\"";
  text += array::name(placed.variable.type);
  text += "\",\"shape\":" + list(placed.variable.shape.extent, placed.variable.shape.dimensions);
  text += ",\"offset\":" + std::to_string(placed.offset);
  if (placed.sums) {
    add_sums(text, *placed.sums);
  }
  text += '}';
}

// What the program calls it, where the file does not say that.
std::string name_of(const contents::Description& description, std::int64_t step) {
  const auto found = description.names.find(step);
  std::string text;
  if (found != description.names.end() && found->second.number != step) {
    text += ",\"number\":" + std::to_string(found->second.number);
  }
  if (found != description.names.end() && std::isfinite(found->second.time)) {
    text += ",\"time\":" + line(found->second.time);
  }
  return text;
}

// Of a server: who takes its file over has another.
std::string server_manifest(const TargetNames& names) {
  return names.temporary + std::string{server_ending} + ".json";
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
                                          const ToldSteps& told,
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
    const Json manifest = Json::parse(*head.replaced, nullptr, false);
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
  std::string last = told.lines.empty() ? "]" : "\n ]";
  for (const auto& each : behind) {
    last += ",\n " + each;
  }
  return {first + ",\n \"steps\": [", last + "\n}\n"};
}

}  // namespace

// One line per step, so that two manifests can be compared by eye and by diff.
void tell(ToldSteps& told, const contents::Description& description) {
  const auto& contents = description.contents;
  if (contents.empty()) {
    return;
  }
  std::string text;
  if (!told.lines.empty() && told.lines.back()->size() < enough_text) {
    text = *told.lines.back();
    told.lines.pop_back();
  }
  for (std::size_t i = 0; i < contents.size();) {
    const auto step = contents[i].step;
    text += (text.empty() && told.lines.empty() ? "\n  " : ",\n  ") + std::string{"{\"step\":"} +
            std::to_string(step) + name_of(description, step) + ",\"variables\":[";
    const char* separator = "";
    for (; i < contents.size() && contents[i].step == step; ++i) {
      text += std::exchange(separator, ",");
      add_variable(text, contents[i]);
      told.variables.try_emplace(contents[i].variable.id, contents[i].variable.name);
    }
    text += "]}";
  }
  told.lines.push_back(std::make_shared<const std::string>(std::move(text)));
}

void write_manifest(const TargetNames& names, const ManifestHead& head,
                    const contents::Description& description, ToldSteps earlier) {
  tell(earlier, description);
  const auto [first, last] = frame(names, head, earlier, description);
  std::vector<std::string_view> parts{first};
  for (const auto& lines : earlier.lines) {
    parts.emplace_back(*lines);
  }
  parts.emplace_back(last);
  write_durably(names.manifest,
                names.may_appear ? server_manifest(names) : names.temporary + ".json", parts,
                names.may_appear);
}

void remove_server_manifest(const TargetNames& names) noexcept {
  ::unlink(server_manifest(names).c_str());
}

}  // namespace iocomp::commit
