// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "blocks/block_file.h"

/// The same blocks by the format libraries themselves, without iocomp: to compare with.
namespace iocomp::apps::blocks {

struct Baseline {
  std::string name;       ///< on the command line
  std::string extension;  ///< of its files; "" where it makes none
  std::string missing;    ///< why this build does not have it, or ""
  std::unique_ptr<BlockFile> (*create)(const Target&) = nullptr;
  std::unique_ptr<BlockReader> (*open)(const Target&) = nullptr;  ///< null: nothing to read
};

/// All of them, those that this build lacks included.
[[nodiscard]] const std::vector<Baseline>& baselines();

/// @throws std::runtime_error naming those that there are, or what is missing.
[[nodiscard]] const Baseline& baseline(const std::string& name);

/// The makers. Creating and opening are collective over the ranks of the target.
[[nodiscard]] std::unique_ptr<BlockFile> create_posix(const Target& target);
[[nodiscard]] std::unique_ptr<BlockReader> open_posix(const Target& target);
[[nodiscard]] std::unique_ptr<BlockFile> create_posix_one(const Target& target);
[[nodiscard]] std::unique_ptr<BlockFile> create_mpiio(const Target& target);
[[nodiscard]] std::unique_ptr<BlockReader> open_mpiio(const Target& target);
[[nodiscard]] std::unique_ptr<BlockFile> create_hdf5(const Target& target);
[[nodiscard]] std::unique_ptr<BlockReader> open_hdf5(const Target& target);
[[nodiscard]] std::unique_ptr<BlockFile> create_netcdf(const Target& target);
[[nodiscard]] std::unique_ptr<BlockReader> open_netcdf(const Target& target);
[[nodiscard]] std::unique_ptr<BlockFile> create_pnetcdf(const Target& target);
[[nodiscard]] std::unique_ptr<BlockReader> open_pnetcdf(const Target& target);
[[nodiscard]] std::unique_ptr<BlockFile> create_adios2(const Target& target);
[[nodiscard]] std::unique_ptr<BlockFile> create_adios2_async(const Target& target);
[[nodiscard]] std::unique_ptr<BlockReader> open_adios2(const Target& target);

}  // namespace iocomp::apps::blocks
