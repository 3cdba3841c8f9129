// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "common/session.h"
#include "common/stopwatch.h"
#include "overlap/options.h"

namespace iocomp::bench {

/// A way of writing one array per step.
class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  virtual ~Writer() = default;

  /// The values stay untouched until `wait` was called for this step.
  virtual void put(int step, std::span<const double> values) = 0;
  /// The calls that follow a put, such as the end of the step.
  virtual void end_step() {}
  virtual void wait(int step) = 0;
  /// Around every compute phase, for ways that want to know.
  virtual void begin_computing() {}
  virtual void end_computing() {}
  /// Return when all is durable.
  virtual void close() = 0;
};

/// @param session  null unless the mode is `iocomp`. @return null for a mode that writes nothing.
std::unique_ptr<Writer> make_writer(const Options& options, const apps::Session* session,
                                    MPI_Comm comm);

}  // namespace iocomp::bench
