// SPDX-License-Identifier: BSD-3-Clause
#include "commit/file_terms.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/error.h"
#include "commit/publication.h"
#include "config/file_settings.h"
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
  return path.empty() ? name + std::string{format.traits().extension} : path;
}

namespace {

formats::Compression compression_of(const config::FileSettings& file) {
  using Method = formats::Compression::Method;
  return {.method = file.compression == "deflate" ? Method::deflate
                    : file.compression == "zstd"  ? Method::zstd
                                                  : Method::none,
          .level = file.compression_level,
          .shuffle = file.shuffle,
          .threads = file.compression_threads};
}

}  // namespace

formats::FormatOptions format_options(const config::FileSettings& file) {
  return {.alignment_bytes = file.alignment_bytes,
          .hints = file.hints,
          .engine = file.engine,
          .engine_parameters = file.engine_parameters,
          .grows_along_time = file.grows_along_time,
          .is_flat = file.is_flat,
          .chunk_bytes = file.chunk_bytes,
          .compression = compression_of(file),
          .one_step = file.file_per_step};
}

Publication::Identity identity(const std::string& name, const config::FileSettings& file,
                               const std::string& job) {
  return {.name = name,
          .path = file.path,
          .job = job,
          .checkpoint = file.checkpoint,
          .file_per_step = file.file_per_step,
          .existing = file.existing,
          .keep = file.keep,
          .xdmf = file.xdmf};
}

}  // namespace iocomp::commit
