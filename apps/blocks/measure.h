// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "blocks/block.h"
#include "blocks/options.h"
#include "blocks/way.h"
#include "common/session.h"

namespace iocomp::apps::blocks {

/// One file, written once. Seconds of the slowest rank.
struct Sample {
  double seconds = 0;  ///< from before the open until all is written, or durable
  double open_seconds = 0;
  double put_seconds = 0;  ///< inside put and end of step
  double wait_seconds = 0;
  double finish_seconds = 0;
  double compute_seconds = 0;
  double cpu_seconds = 0;   ///< processor time of all compute ranks meanwhile
  double read_seconds = 0;  ///< from before the open until all is read; 0: not read
};

/// All files that were written in one way.
struct Series {
  Way way;
  bool is_missing = false;  ///< iocomp has no such back-end
  std::vector<Sample> samples;
  int checked = 0;  ///< repetitions that were read back, every element as it must be
};

/// The block to write, and the box to read if reading is timed.
struct Case {
  Block block;
  Box read_box;
};

/// Write in all ways, again and again, in turn; each repetition begins with another of them.
/// Collective over `comm`.
/// @param session  null: baselines alone.
/// @throws std::runtime_error when a file holds something else than it should.
[[nodiscard]] std::vector<Series> measure(const Options& options, const std::vector<Way>& ways,
                                          const Session* session, MPI_Comm comm, const Case& what);

}  // namespace iocomp::apps::blocks
