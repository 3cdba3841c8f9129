// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "iocomp/launch_line.h"

namespace iocomp::command {

struct FoundLauncher {
  Launcher kind = Launcher::slurm;
  std::string path;
};

/// The launcher of this kind; with none named srun inside a Slurm allocation, else that of the MPI
/// this command was built with, else any.
/// @throws Error{unsupported} naming what was looked for.
[[nodiscard]] FoundLauncher find_launcher(std::optional<Launcher> wanted);

}  // namespace iocomp::command
