// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "stream/arrays.h"
#include "stream/output.h"

namespace iocomp::apps::stream {

/// Seconds of one rank.
struct Measurement {
  std::array<std::vector<double>, kernel_count>
      kernels;                 ///< by kernel, one entry per loop; progress calls included
  OutputTimers output;         ///< all zero in a plain run
  double until_last_call = 0;  ///< from the start to the return of the last put, end_step or wait
  double until_durable = 0;    ///< from the start to the return of iocomp_close
};

/// Opens the file, inside the measured time; returns null for a plain run.
using OpenOutput = std::function<std::unique_ptr<Output>()>;

/// Run all loops. Time starts before the file is opened. Collective over `comm`.
Measurement measure(const Options& options, MPI_Comm comm, Arrays& arrays, const OpenOutput& open);

}  // namespace iocomp::apps::stream
