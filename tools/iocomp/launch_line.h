// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "iocomp/job_map.h"

namespace iocomp::command {

enum class Launcher { slurm, openmpi, mpich };

[[nodiscard]] const std::vector<std::string>& launcher_names();
/// @throws Error{invalid_argument} naming the launchers.
[[nodiscard]] Launcher launcher_named(const std::string& name);

struct LaunchOptions {
  Launcher launcher = Launcher::slurm;
  std::vector<std::string> hosts{};    ///< names of the nodes; empty: those of the allocation
  std::string rankfile{};              ///< openmpi: where it lies
  std::string settings_file{};         ///< use this instead of variables
  std::string present_settings{};      ///< text of the settings file that it takes the place of
  std::vector<std::string> program{};  ///< with its arguments
};

/// The command that starts a job with every rank where its map says.
struct Launch {
  std::vector<std::pair<std::string, std::string>> environment{};
  std::vector<std::string> words{};
  std::string rankfile{};  ///< openmpi: what the file must say; empty: none is needed
  std::string settings{};  ///< what the settings file must say; empty: none is needed
  std::vector<std::string> notes{};

  /// For a shell.
  [[nodiscard]] std::string line() const;
};

/// @throws Error{unsupported} for what this launcher cannot do, naming one that can.
[[nodiscard]] Launch launch_of(const JobMap& job, const LaunchOptions& options);

}  // namespace iocomp::command
