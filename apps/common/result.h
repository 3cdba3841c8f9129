// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace iocomp::apps {

/// Write one JSON object, the result of one run. An empty path writes nothing; "-" means stdout.
/// @throws std::runtime_error naming the path and the cause.
void write_result(const std::string& path, const nlohmann::json& result);

}  // namespace iocomp::apps
