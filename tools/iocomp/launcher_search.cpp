// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/launcher_search.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "iocomp/launch_line.h"
#include "iocomp/other_programs.h"

namespace iocomp::command {
namespace {

/// The names that a launcher may have, and the words by which its version text tells it.
struct Signature {
  std::vector<std::string> names;
  std::vector<std::string> words;
};

Signature signature_of(Launcher kind) {
  switch (kind) {
    case Launcher::slurm:
      return {.names = {"srun"}, .words = {"slurm"}};
    case Launcher::openmpi:
      return {.names = {"mpirun.openmpi", "mpirun", "mpiexec"},
              .words = {"Open MPI", "OpenRTE", "PRTE"}};
    case Launcher::mpich:
      return {.names = {"mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"}, .words = {"HYDRA"}};
  }
  throw Error{ErrorCode::internal, "a launcher without a name"};
}

std::optional<FoundLauncher> find(Launcher kind) {
  const auto signature = signature_of(kind);
  for (const auto& name : signature.names) {
    const auto path = in_path(name);
    if (!path) {
      continue;
    }
    const auto text = printed_by({*path, "--version"}, Errors::kept);  // mpirun is the name of many
    if (std::ranges::any_of(signature.words, [&text](const std::string& word) {
          return text.find(word) != std::string::npos;
        })) {
      return FoundLauncher{.kind = kind, .path = *path};
    }
  }
  return std::nullopt;
}

/// The launchers, in the order in which they are tried.
std::vector<Launcher> kinds() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  const bool is_mpich = MPI_Get_library_version(text.data(), &length) == MPI_SUCCESS &&
                        std::string{text.data()}.find("MPICH") != std::string::npos;
  std::vector<Launcher> order{Launcher::openmpi, Launcher::mpich};
  if (is_mpich) {
    std::ranges::reverse(order);
  }
  if (std::getenv("SLURM_JOB_ID") != nullptr) {
    order.insert(order.begin(), Launcher::slurm);
  }
  return order;
}

}  // namespace

FoundLauncher find_launcher(std::optional<Launcher> wanted) {
  const auto tried = wanted ? std::vector<Launcher>{*wanted} : kinds();
  std::vector<std::string> names;
  for (const auto kind : tried) {
    if (auto found = find(kind); found) {
      return *found;
    }
    const auto signature = signature_of(kind);
    names.push_back(fmt::format("{} ({})", launcher_names()[static_cast<std::size_t>(kind)],
                                fmt::join(signature.names, ", ")));
  }
  throw Error{ErrorCode::unsupported,
              fmt::format("no launcher is in PATH: looked for {}; srun is tried inside a Slurm "
                          "allocation, or with --launcher slurm",
                          fmt::join(names, "; "))};
}

}  // namespace iocomp::command
