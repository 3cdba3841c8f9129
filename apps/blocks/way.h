// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocks/baselines/baseline.h"
#include "blocks/block_file.h"
#include "blocks/options.h"
#include "common/session.h"

namespace iocomp::apps::blocks {

/// One way to write a file: a back-end of iocomp, or a baseline.
struct Way {
  std::string label;  ///< "iocomp posix", "iocomp hdf5:sync", "mpiio"
  std::string name;   ///< of its files, without what the layout adds
  std::string extension;
  std::string backend;  ///< of iocomp; "": that of the settings
  std::string mode;     ///< "sync", "async" or "", which is that of the settings
  bool may_be_missing = false;
  const Baseline* baseline = nullptr;  ///< null: iocomp
};

/// The ways that the command line asks for, in its order.
/// @throws std::runtime_error for one that does not exist, or was not built.
[[nodiscard]] std::vector<Way> ways_of(const Options& options, const std::string& program);

/// The settings of the program for all files that may be written in a job of so many ranks.
[[nodiscard]] std::string settings_of(const Options& options, const std::vector<Way>& ways,
                                      int ranks);

/// The path of the file with that suffix, as the settings have it in the end.
[[nodiscard]] std::string path_of(const Way& way, const std::string& suffix, const Options& options,
                                  const Session* session);

}  // namespace iocomp::apps::blocks
