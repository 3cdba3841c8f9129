// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "array/run_list.h"
#include "base/error.h"
#include "protocol/messages.h"
#include "steps/coverage.h"
#include "steps/put_log.h"

/// The bodies of messages that tell which elements of variables are put (see messages.h).
namespace iocomp::protocol {

/// run_list: a list of runs that pieces of this sender will refer to by its number.
/// forget_run_list: the number alone, for no later piece will refer to it.
struct NumberedRuns {
  std::uint64_t number = 0;
  array::RunList runs;
};

/// put_report: those of some variables of a step that came to a server.
struct PutReport {
  std::int64_t step = 0;
  std::vector<steps::PutRecord> puts;
};

/// own_written: blocks of a step that the sender has written itself.
struct OwnWritten {
  std::int64_t step = 0;
  Outcome outcome;
  std::vector<steps::PutRecord> puts;
};

/// expect: what will have come to a server of a step.
struct Expectation {
  std::int64_t step = 0;
  std::int64_t pieces = 0;
  std::vector<std::int32_t> report;  ///< variables whose puts the lead wants to know
  bool ends_stripes = true;          ///< no more elements come to stripes of the step
};

/// fill: elements that nobody has put, to be filled by this server, by variable. Without any it is
/// answered all the same.
struct FillOrder {
  std::int64_t step = 0;
  steps::Holes holes;
};

}  // namespace iocomp::protocol
