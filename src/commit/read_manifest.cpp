#include "commit/read_manifest.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/small_files.h"
#include "commit/json_values.h"
#include "commit/manifest.h"
#include "formats/source.h"

namespace iocomp::commit {
namespace {

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
  const auto extents = described.at("shape").get<std::vector<std::int64_t>>();
  if (extents.size() > std::size_t{array::max_dimensions}) {
    throw Error{ErrorCode::unsupported, "the variable \"" + variable.name + "\" has " +
                                            std::to_string(extents.size()) +
                                            " dimensions; this release knows up to " +
                                            std::to_string(array::max_dimensions)};
  }
  variable.shape = array::make_shape(static_cast<int>(extents.size()), extents.data());
  return variable;
}

std::vector<std::int64_t> steps_from(const Json& manifest) {
  const auto first = manifest.at("first_step").get<std::int64_t>();
  const auto count = manifest.at("committed_steps").get<std::int64_t>();
  const auto absent = manifest.at("absent").get<std::set<std::int64_t>>();
  std::vector<std::int64_t> steps;
  for (std::int64_t step = first; step < first + count; ++step) {
    if (!absent.contains(step)) {
      steps.push_back(step);
    }
  }
  return steps;
}

contents::Inventory inventory_from(const Json& manifest) {
  contents::Inventory inventory;
  inventory.steps = steps_from(manifest);
  std::map<std::string, int> ids;
  for (const auto& step : manifest.at("steps")) {
    const auto number = step.at("step").get<std::int64_t>();
    if (!std::ranges::binary_search(inventory.steps, number)) {
      throw Error{
          ErrorCode::storage_failure,
          "it lists variables of step " + std::to_string(number) + ", which it calls absent"};
    }
    for (const auto& described : step.at("variables")) {
      contents::Placed placed{number, variable_from(described),
                              described.at("offset").get<std::int64_t>()};
      placed.variable.id =
          ids.emplace(placed.variable.name, static_cast<int>(ids.size())).first->second;
      inventory.contents.push_back(placed);
    }
  }
  inventory.attributes = attributes_from(manifest.at("attributes"));
  for (const auto& [name, attributes] : manifest.at("variable_attributes").items()) {
    inventory.of_variable.emplace(name, attributes_from(attributes));
  }
  return inventory;
}

void check_version(const Json& manifest) {
  const auto version = manifest.at("iocomp_manifest").get<std::int64_t>();
  if (version > manifest_version) {
    throw Error{ErrorCode::unsupported,
                "it is of a later release of iocomp: it has version " + std::to_string(version) +
                    ", this release reads up to version " + std::to_string(manifest_version)};
  }
}

// The files of other formats tell it themselves.
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

std::optional<std::string> manifest_in_force(const std::string& path) {
  auto text = read_file(path);
  if (!text || text->find("\"replaces\"") == std::string::npos) {
    return text;
  }
  const Json json = Json::parse(*text, nullptr, false);
  const Json replaces = json.is_object() ? json.value("replaces", Json{}) : Json{};
  if (!replaces.is_object() || !replaces.value("temporary", Json{}).is_string()) {
    return text;
  }
  const auto temporary = name_in_folder(replaces["temporary"].get<std::string>());
  if (::access((folder_of(path) + '/' + temporary).c_str(), F_OK) != 0) {
    return text;
  }
  const Json old = replaces.value("manifest", Json{});
  return old.is_object() ? std::optional{old.dump() + '\n'} : std::nullopt;
}

Manifest parse_manifest(const std::string& text, const std::string& path) {
  const std::string what = "cannot read the manifest " + path + ": ";
  try {
    const auto json = Json::parse(text);
    check_version(json);
    check_byte_order(json);
    Manifest manifest;
    manifest.format = json.at("format").get<std::string>();
    manifest.bytes = json.at("bytes").get<std::int64_t>();
    manifest.inventory = inventory_from(json);
    return manifest;
  } catch (const Json::exception& error) {
    throw Error{ErrorCode::storage_failure, what + error.what()};
  } catch (const Error& error) {
    const bool is_later = error.code() == ErrorCode::unsupported;
    throw Error{is_later ? ErrorCode::unsupported : ErrorCode::storage_failure,
                what + error.what()};
  }
}

}  // namespace iocomp::commit
