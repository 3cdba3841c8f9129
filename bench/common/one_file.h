// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/session.h"

namespace iocomp::bench {

/// A program that measures something about one file of a session.
struct OneFile {
  std::string name{};  ///< of the file, in the program
  std::string path{};
  std::string mode{};
  std::string backend = "posix";
  std::string json{};  ///< where the result goes; empty or "-": stdout
};

/// Options that set mode, backend, path and json.
void add_options(CLI::App& app, OneFile& file);

/// Measure on the compute ranks of a session; when it is over, the first of them writes the result,
/// with the counters of the job ("trace") if the setting `trace.json` is set. Collective over
/// MPI_COMM_WORLD. @return 0, the program's exit status.
int run_with(const OneFile& file,
             const std::function<nlohmann::json(const apps::Session&)>& measure);

}  // namespace iocomp::bench
