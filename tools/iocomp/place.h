// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "formats/file_system.h"

namespace iocomp::command {

/// The file system of a directory, and what iocomp would choose there for so many writers.
struct Place {
  std::string directory;
  int writers = 0;
  formats::FileSystemFacts facts;
  formats::FileSystemAdvice advice;
};

/// @throws Error naming the directory.
[[nodiscard]] Place place_at(const std::string& directory, int writers);

/// For people: rows of a table.
[[nodiscard]] std::vector<std::vector<std::string>> rows_of(const Place& place);
[[nodiscard]] nlohmann::ordered_json json_of(const Place& place);

}  // namespace iocomp::command
