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

/// The frame of such a program, see apps::run_program: `app` gets options that set mode, backend,
/// path and json. The compute ranks of a session measure; when it is over, the first of them writes
/// the result, with the counters of the job ("trace") if the setting `trace.json` is set.
/// @return the exit code for main.
int run_with(int argc, char** argv, CLI::App& app, OneFile& file,
             const std::function<nlohmann::json(const apps::Session&)>& measure);

/// True if it is the turn of the second of two ways that are measured in pairs. Each is first in
/// every other pair.
/// every other pair.
/// @param half  two for each pair, counted from 0.
constexpr bool is_turn_of_second(int half) noexcept { return half % 4 == 1 || half % 4 == 2; }

}  // namespace iocomp::bench
