// SPDX-License-Identifier: BSD-3-Clause
#include "commit/file_terms.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "array/rounding.h"
#include "base/error.h"
#include "base/path.h"
#include "commit/owner.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/variable.h"
#include "disk/options.h"
#include "formats/format.h"

namespace iocomp::commit {

void check_name(const std::string& name) {
  const bool allowed = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (name.empty() || !allowed || name.front() == '.' || name.size() > 200) {
    throw Error{ErrorCode::invalid_argument,
                "the file name \"" + name +
                    "\" is not allowed: 1 to 200 letters, digits, '-', '_' and '.', not "
                    "beginning with '.'; its path is set by files.<name>.path"};
  }
}

std::string path_in_force(const std::string& name, const std::string& path,
                          const formats::Format& format) {
  const std::string last = name_in_folder(path);
  if (!path.empty() && (last.empty() || last == "." || last == "..")) {
    throw Error{ErrorCode::invalid_setting,
                "files." + name + ".path is \"" + path + "\", a folder; it must name a file in it"};
  }
  return path.empty() ? name + std::string{format.traits().extension} : path;
}

namespace {

// Only floating-point elements that have more bits than `keep_bits` are rounded.
contents::Kept kept_of(const config::VariableSettings& settings,
                       const contents::Variable& variable) {
  const int stored = array::mantissa_bits(variable.type);
  if (settings.keep_bits > 0 && settings.is_rounded_by_name && stored == 0) {
    throw Error{ErrorCode::invalid_setting,
                "round of the variable \"" + variable.name + "\": its elements are " +
                    std::string{array::name(variable.type)} +
                    "; float32, float64, complex64 and complex128 can be rounded"};
  }
  return {.bits = settings.keep_bits < stored ? settings.keep_bits : 0,
          .of_all_kinds = settings.is_rounded_by_name};
}

}  // namespace

array::ElementType kept_type(const config::FileSettings& file, const contents::Variable& variable) {
  using Type = array::ElementType;
  const auto settings = file.of_variable(variable.name);
  if (settings.type.empty()) {
    return variable.type;
  }
  const auto asked = array::element_type(settings.type).value_or(variable.type);
  const bool is_complex = array::is_complex(variable.type);
  const bool can_be = is_complex ? asked != Type::float16 : array::is_floating(variable.type);
  if (!settings.is_typed_by_name) {
    const bool tells_coordinates =
        variable.shape.dimensions == 0 || variable.dimensions == variable.name;
    if (!can_be || tells_coordinates) {
      return variable.type;
    }
  } else if (!can_be) {
    throw Error{ErrorCode::invalid_setting,
                "the type " + settings.type + " of the variable \"" + variable.name +
                    "\": its elements are " + std::string{array::name(variable.type)} +
                    "; floating-point numbers can be another one, complex ones float32 or float64"};
  }
  return is_complex ? array::complex_of(asked).value_or(variable.type) : asked;
}

formats::FormatOptions format_options(const config::FileSettings& file, const disk::Options& disk) {
  std::vector<Storage> storages{file.usual};
  storages.insert(storages.end(), file.others.begin(), file.others.end());
  return {.alignment_bytes = file.alignment_bytes,
          .hints = file.hints,
          .engine = file.engine,
          .grows_along_time = file.grows_along_time,
          .is_flat = file.is_flat,
          .chunk_bytes = file.usual.chunk_bytes,
          .compression = file.usual.compression,
          .of_variable = file.of_variable,
          .storages = std::move(storages),
          .kept_bits =
              [of_variable = file.of_variable](const contents::Variable& variable) {
                return kept_of(of_variable(variable.name), variable);
              },
          .crew = disk.crew,
          .bypasses_cache = disk.direct != disk::Direct::off && !file.may_overlap,
          .one_step = file.file_per_step};
}

Publication::Identity identity(const std::string& name, const config::FileSettings& file,
                               const std::string& job, std::function<bool()> is_fenced) {
  return {.name = name,
          .path = file.path,
          .job = job,
          .checkpoint = file.checkpoint,
          .file_per_step = file.file_per_step,
          .existing = file.existing,
          .keep = file.keep,
          .claim = is_fenced ? Owner::Claim::of_server : Owner::Claim::alone,
          .is_fenced = std::move(is_fenced)};
}

}  // namespace iocomp::commit
