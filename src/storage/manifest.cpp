#include "storage/manifest.h"

#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "storage/commit.h"
#include "storage/json_values.h"
#include "storage/small_files.h"

namespace iocomp::storage {
namespace {

std::string line(const Json& value) {
  // Names are the user's: bytes that are no UTF-8 must not make the manifest impossible.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string field(const char* name, const Json& value) { return line(name) + ": " + line(value); }

Json variable(const Placed& placed) {
  Json shape = Json::array();
  for (int d = 0; d < placed.variable.shape.dimensions; ++d) {
    shape.push_back(placed.variable.shape.extent[static_cast<std::size_t>(d)]);
  }
  return {{"name", placed.variable.name},
          {"type", std::string{array::name(placed.variable.type)}},
          {"shape", shape},
          {"offset", placed.offset}};
}

Json variable_attributes(const ToldSteps& told, const Description& description) {
  Json all = Json::object();
  for (const auto& [id, name] : told.variables) {
    const auto index = static_cast<std::size_t>(id);
    if (index < description.of_variable.size() && !description.of_variable[index].empty()) {
      all[name] = json(description.of_variable[index]);
    }
  }
  return all;
}

std::string manifest(const TargetNames& names, const ManifestHead& head, const ToldSteps& told,
                     const Description& description) {
  std::vector<std::string> fields{
      field("iocomp_manifest", manifest_version),
      field("name", head.name),
      field("format", head.format),
      field("kind", head.kind),
      field("file", name_in_folder(names.target)),
      field("bytes", head.bytes),
      field("byte_order", std::endian::native == std::endian::little ? "little" : "big"),
      field("first_step", head.first_step),
      field("committed_steps", head.steps),
      "\"steps\": [" + told.lines + (told.lines.empty() ? "]" : "\n ]"),
      field("absent", head.absent),
      field("attributes", json(description.attributes)),
      field("variable_attributes", variable_attributes(told, description))};
  std::string text;
  for (const auto& each : fields) {
    text += (text.empty() ? "{\n " : ",\n ") + each;
  }
  return text + "\n}\n";
}

}  // namespace

// One line per step, so that two manifests can be compared by eye and by diff.
void tell(ToldSteps& told, const Description& description) {
  const auto& contents = description.contents;
  for (std::size_t i = 0; i < contents.size();) {
    const auto step = contents[i].step;
    Json variables = Json::array();
    for (; i < contents.size() && contents[i].step == step; ++i) {
      variables.push_back(variable(contents[i]));
      told.variables.emplace(contents[i].variable.id, contents[i].variable.name);
    }
    told.lines +=
        (told.lines.empty() ? "\n  " : ",\n  ") + line({{"step", step}, {"variables", variables}});
  }
}

void write_manifest(const TargetNames& names, const ManifestHead& head,
                    const Description& description, ToldSteps earlier) {
  tell(earlier, description);
  write_durably(names.manifest, names.temporary + ".json",
                manifest(names, head, earlier, description));
}

}  // namespace iocomp::storage
