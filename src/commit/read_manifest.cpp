// SPDX-License-Identifier: BSD-3-Clause
#include "commit/read_manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/folder_targets.h"
#include "base/our_words.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/json_values.h"
#include "commit/manifest.h"
#include "contents/variable.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace iocomp::commit {
namespace {

std::vector<std::int64_t> integers_from(const Json& values) {
  std::vector<std::int64_t> integers;
  for (const auto& value : values) {
    integers.push_back(integer_from(value));
  }
  return integers;
}

contents::Variable variable_from(const Json& described) {
  contents::Variable variable;
  variable.name = described.at("name").get<std::string>();
  const auto type = described.at("type").get<std::string>();
  const auto known = array::element_type(type);
  if (!known) {
    throw Error{ErrorCode::unsupported, "the variable \"" + variable.name + "\" has the type \"" +
                                            type + "\", which this release does not know"};
  }
  variable.type = *known;
  const auto extents = integers_from(described.at("shape"));
  if (extents.size() > std::size_t{array::max_dimensions}) {
    throw Error{ErrorCode::unsupported, "the variable \"" + variable.name + "\" has " +
                                            std::to_string(extents.size()) +
                                            " dimensions; this release knows up to " +
                                            std::to_string(array::max_dimensions)};
  }
  variable.shape = array::make_shape(static_cast<int>(extents.size()), extents.data());
  contents::check_bytes(variable);
  return variable;
}

[[noreturn]] void refuse(const std::string& what) { throw Error{ErrorCode::storage_failure, what}; }

// The number of steps that a line tells of.
std::int64_t count_of(const Json& line) {
  const auto count = line.contains("count") ? integer_from(line.at("count")) : 1;
  if (count < 1) {
    refuse("a line tells of " + std::to_string(count) + " steps");
  }
  return count;
}

void read_steps(const Json& json, Manifest& manifest) {
  manifest.first_step = integer_from(json.at("first_step"));
  manifest.committed_steps = integer_from(json.at("committed_steps"));
  manifest.absent = integers_from(json.at("absent"));
  std::int64_t told = std::ssize(manifest.absent);
  for (const auto& line : json.at("steps")) {
    told += std::min(count_of(line), contents::most_silent_steps);
  }
  if (manifest.first_step < 0 || manifest.committed_steps < 0 ||
      manifest.committed_steps > told + contents::most_silent_steps ||
      manifest.first_step > std::numeric_limits<std::int64_t>::max() - manifest.committed_steps) {
    refuse("it claims " + std::to_string(manifest.committed_steps) + " steps from step " +
           std::to_string(manifest.first_step) + " on, and tells of " + std::to_string(told));
  }
  const std::set<std::int64_t> absent{manifest.absent.begin(), manifest.absent.end()};
  const std::int64_t end = manifest.first_step + manifest.committed_steps;
  auto& steps = manifest.inventory.steps;
  steps.reserve(static_cast<std::size_t>(manifest.committed_steps));
  for (std::int64_t step = manifest.first_step; step < end; ++step) {
    if (!absent.contains(step)) {
      steps.push_back(step);
    }
  }
}

void check_place(const contents::Placed& placed, std::int64_t bytes) {
  const std::int64_t needed = placed.variable.bytes();
  if (placed.offset < -1 || (placed.offset >= 0 && needed > 0 && needed > bytes - placed.offset)) {
    refuse("the variable \"" + placed.variable.name + "\" in step " + std::to_string(placed.step) +
           " has " + std::to_string(needed) + " bytes from byte " + std::to_string(placed.offset) +
           " on, in a file of " + std::to_string(bytes));
  }
}

contents::BlockSums sums_from(const Json& described, const contents::Variable& variable) {
  const auto listed = described.find(sums_key);
  if (listed == described.end()) {
    return nullptr;
  }
  auto sums = std::make_shared<std::vector<contents::BlockSum>>();
  const auto dimensions = static_cast<std::size_t>(variable.shape.dimensions);
  std::int64_t left = array::elements(variable.shape);  // no two blocks of a step overlap
  for (const auto& entry : *listed) {
    const auto start = integers_from(entry.at(0));
    const auto count = integers_from(entry.at(1));
    const auto checksum = array::checksum_from(entry.at(2).get<std::string>());
    if (start.size() != dimensions || count.size() != dimensions || !checksum) {
      refuse("a checksum of the variable \"" + variable.name +
             "\" is malformed: " + one_line(entry));
    }
    sums->push_back({array::make_box(variable.shape, start.data(), count.data()), *checksum});
    const auto elements = array::elements(sums->back().box);
    if (elements > left) {
      refuse("of the variable \"" + variable.name + "\" it has checksums of more elements than " +
             "there are");
    }
    left -= elements;
  }
  return sums;
}

// Reads the names of the steps of one line.
void read_names(const Json& line, std::int64_t first, std::int64_t count,
                contents::Inventory& inventory) {
  const auto time = line.find("time");
  const bool has_times = time != line.end();
  if (!has_times && !line.contains("number")) {
    return;
  }
  if (has_times && count > 1 && std::ssize(*time) != count) {
    refuse("step " + std::to_string(first) + " and those behind it are " + std::to_string(count) +
           ", with " + std::to_string(std::ssize(*time)) + " times");
  }
  const auto number = line.contains("number") ? integer_from(line.at("number")) : first;
  if (number > std::numeric_limits<std::int64_t>::max() - count) {
    refuse("it gives step " + std::to_string(first) + " the number " + std::to_string(number));
  }
  for (std::int64_t i = 0; i < (has_times ? count : 1); ++i) {
    inventory.names[first + i] = {number + i,
                                  !has_times  ? contents::unknown_time
                                  : count > 1 ? time->at(static_cast<std::size_t>(i)).get<double>()
                                              : time->get<double>()};
  }
}

// The bytes by which a variable moves from one step to the next. `placed` is the variable in the
// first of `count` steps.
std::int64_t advance_of(const Json& described, const contents::Placed& placed, std::int64_t count,
                        std::int64_t bytes) {
  const bool moves = count > 1 && placed.offset >= 0;
  const auto advance = moves ? integer_from(described.at("advance")) : 0;
  if (advance < 0 || (moves && advance > 0 && count - 1 > (bytes - placed.offset) / advance)) {
    refuse("the variable \"" + placed.variable.name + "\" moves by " + std::to_string(advance) +
           " bytes in each of " + std::to_string(count) + " steps, in a file of " +
           std::to_string(bytes));
  }
  return advance;
}

// Reads the variables of the steps of one line.
void read_line(const Json& line, std::int64_t first, std::int64_t count,
               std::map<std::string, int>& ids, Manifest& manifest) {
  std::vector<contents::Placed> placed;
  std::vector<std::int64_t> advance;
  std::set<int> here;
  for (const auto& described : line.at("variables")) {
    auto& one = placed.emplace_back(
        contents::Placed{first, variable_from(described), integer_from(described.at("offset"))});
    one.variable.id = ids.emplace(one.variable.name, static_cast<int>(ids.size())).first->second;
    check_place(one, manifest.bytes);
    advance.push_back(advance_of(described, one, count, manifest.bytes));
    one.sums = sums_from(described, one.variable);
    if (!here.insert(one.variable.id).second) {
      refuse("it has the variable \"" + one.variable.name + "\" twice in step " +
             std::to_string(first));
    }
  }
  auto& contents = manifest.inventory.contents;
  if (count > 1 &&
      std::ssize(placed) > (contents::most_silent_steps - std::ssize(contents)) / count) {
    refuse("it tells of more than " + std::to_string(contents::most_silent_steps) +
           " variables, those of each step counted");
  }
  for (std::int64_t step = 0; step < count; ++step) {
    for (std::size_t i = 0; i < placed.size(); ++i) {
      contents.push_back(placed[i]);
      contents.back().step += step;
      contents.back().offset += step * advance[i];
      check_place(contents.back(), manifest.bytes);
    }
  }
}

void read_contents(const Json& json, Manifest& manifest) {
  auto& inventory = manifest.inventory;
  std::map<std::string, int> ids;
  // behind the steps of the lines so far
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const auto& line : json.at("steps")) {
    const auto first = integer_from(line.at("step"));
    const auto count = count_of(line);
    if (first < end) {
      refuse("it lists step " + std::to_string(first) + " after step " + std::to_string(end - 1));
    }
    const auto& steps = inventory.steps;
    const auto found = std::ranges::lower_bound(steps, first);
    if (found == steps.end() || *found != first || steps.end() - found < count ||
        *(found + (count - 1)) != first + (count - 1)) {
      refuse("it lists variables of step " + std::to_string(first) +
             (count > 1 ? " and those behind it" : "") + ", which it calls absent");
    }
    end = first + count;
    read_names(line, first, count, inventory);
    read_line(line, first, count, ids, manifest);
  }
  for (auto& placed : inventory.contents) {
    placed.number = inventory.name_of(placed.step).number;
  }
  inventory.attributes = attributes_from(json.at("attributes"));
  for (const auto& [name, attributes] : json.at("variable_attributes").items()) {
    inventory.of_variable.emplace(name, attributes_from(attributes));
  }
}

// Checks the byte order for formats whose files do not tell it.
void check_byte_order(const Json& manifest) {
  const auto format = manifest.at("format").get<std::string>();
  if (format == "hdf5" || format == "netcdf" || format == "pnetcdf") {
    return;
  }
  const std::string own = std::endian::native == std::endian::little ? "little" : "big";
  const auto order = manifest.at("byte_order").get<std::string>();
  if (order != own) {
    throw Error{ErrorCode::unsupported, "it was written on a machine of the other byte order (" +
                                            order + "-endian; this one is " + own + "-endian)"};
  }
}

}  // namespace

Path followed(const Path& path) {
  const auto there = (path + ".json").is_there() ? "" : path.folder().end_of_link(path.name());
  return there.empty() ? path : Path{there};
}

std::optional<std::string> manifest_in_force(const Path& path) {
  return in_force(read_file(path), path);
}

std::optional<std::string> in_force(std::optional<std::string> text, const Path& path) {
  if (!text || text->find("\"replaces\"") == std::string::npos) {
    return text;
  }
  Json json;
  try {
    json = whole_manifest(*text);
  } catch (const std::exception&) {
    return text;  // told by whoever reads it
  }
  const Json replaces = json.is_object() ? json.value("replaces", Json{}) : Json{};
  if (!replaces.is_object() || !replaces.value("temporary", Json{}).is_string()) {
    return text;
  }
  const auto temporary = name_in_folder(replaces["temporary"].get<std::string>());
  const std::string inode = inode_of(path.beside(temporary));
  if (inode.empty() || replaces.value("inode", Json(inode)) != Json(inode)) {
    return text;
  }
  const Json old = replaces.value("manifest", Json{});
  return old.is_object() ? std::optional{old.dump() + '\n'} : std::nullopt;
}

void check_size(const Path& path, std::int64_t bytes, const char* action) {
  if (const auto size = size_of_target(path); size < bytes) {
    throw Error{ErrorCode::storage_failure,
                std::string{"cannot "} + action + ' ' + path.text() + ": it is torn: it has " +
                    std::to_string(size) + " bytes, its manifest says " + std::to_string(bytes)};
  }
}

void check_whole(const Path& path, const Manifest& manifest, const std::string& modules) {
  const Outcome size = outcome_of([&] { check_size(path, manifest.bytes); });
  std::span<const contents::Placed> contents = manifest.inventory.contents;
  if (size.ok()) {
    if (manifest.bytes > 0 || contents.empty()) {
      return;
    }
    const auto newest = std::ranges::find(contents, contents.back().step, &contents::Placed::step);
    contents = contents.subspan(static_cast<std::size_t>(newest - contents.begin()));
  }
  bool is_whole = false;
  const Outcome looked = outcome_of(
      [&] { is_whole = formats::open_source(manifest.format, path, modules)->is_whole(contents); });
  if (!is_whole) {
    size.throw_unless_ok();
  }
  if (looked.code == ErrorCode::storage_failure) {
    throw Error{looked.code, looked.story + "; so it is torn"};
  }
}

bool is_other_json(const std::string& text) {
  return text.find("\"iocomp_manifest\"") == std::string::npos && Json::accept(text);
}

bool is_step_of_set(const Manifest& manifest, std::int64_t step) noexcept {
  return manifest.first_step == step && manifest.committed_steps == 1;
}

Manifest parse_manifest(const std::string& text, const std::string& path) {
  const std::string what = "cannot read the manifest " + path + ": ";
  try {
    const auto json = whole_manifest(text);
    check_byte_order(json);
    Manifest manifest;
    manifest.name = json.value("name", "");
    manifest.kind = json.value("kind", "");
    manifest.format = json.at("format").get<std::string>();
    manifest.bytes = integer_from(json.at("bytes"));
    if (manifest.bytes < 0) {
      refuse("it gives the file " + std::to_string(manifest.bytes) + " bytes");
    }
    read_steps(json, manifest);
    read_contents(json, manifest);
    const Json supersedes = json.value("supersedes", Json::object());
    for (const auto& [step, identity] : supersedes.items()) {
      manifest.supersedes.emplace(std::stoll(step), identity.get<std::string>());
    }
    return manifest;
  } catch (const std::logic_error& error) {  // a text that is no number
    throw Error{ErrorCode::storage_failure, what + in_our_words(error)};
  } catch (const Json::exception& error) {
    throw Error{ErrorCode::storage_failure, what + in_our_words(error)};
  } catch (const Error& error) {
    const bool is_later = error.code() == ErrorCode::unsupported;
    throw Error{is_later ? ErrorCode::unsupported : ErrorCode::storage_failure,
                what + error.what()};
  }
}

}  // namespace iocomp::commit
