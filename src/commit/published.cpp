#include "commit/published.h"

#include <unistd.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/json_values.h"

namespace iocomp::commit {

Published look_at(const TargetNames& names) {
  Published found;
  found.has_temporary = access(names.temporary.c_str(), F_OK) == 0;
  found.has_target = access(names.target.c_str(), F_OK) == 0;
  return found;
}

Published read_published(const TargetNames& names) {
  Published found = look_at(names);
  if (found.has_temporary || !found.has_target) {
    return found;
  }
  try {
    const auto manifest = Json::parse(read_file(names.manifest).value_or(""));
    found.steps = manifest.at("committed_steps").get<std::int64_t>();
    found.absent = manifest.at("absent").get<std::vector<std::int64_t>>();
    for (const auto& step : manifest.at("steps")) {
      for (const auto& variable : step.at("variables")) {
        found.variables.emplace_back(step.at("step").get<std::int64_t>(),
                                     variable.at("name").get<std::string>());
      }
    }
  } catch (const Json::exception& error) {
    throw Error{ErrorCode::storage_failure,
                "cannot read the manifest " + names.manifest + ": " + error.what()};
  }
  return found;
}

}  // namespace iocomp::commit
