// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "contents/description.h"
#include "steps/coverage.h"

namespace iocomp::steps {

/// An action that all writers of a file carry out together, if the format needs it.
enum class Action : std::uint8_t {
  create = 1,  ///< start the physical file of a step (-1: of all steps)
  flush = 2,   ///< write the step that is complete, where a library writes whole steps
  finish = 3,  ///< end the physical file
  /// End a physical file that failed. Only settled steps are described, because of the others the
  /// writers may know different things.
  discard = 4,
};

// Orders for all writers.

/// All members have ended a step. The order tells how many pieces of it each writer gets. It also
/// tells the variables whose puts the writer reports when it is done.
struct Expect {
  std::int64_t step = 0;
  std::vector<std::int64_t> pieces;  ///< by writer
  std::vector<std::int32_t> report;
  bool ends_stripes = true;  ///< no more elements come to stripes of the step
};
/// Nobody has put these elements. Each writer fills its share (`share`) and reports again that it
/// is done. Where a variable has no fill value, they only make stripes full.
struct Fill {
  std::int64_t step = 0;
  Holes holes;
  bool has_values = false;  ///< others have put elements of the step
};
/// A step is written and filled. Each writer makes its part durable and reports again that it is
/// done.
struct Sync {
  std::int64_t step = 0;
};
/// A step is committed, or it has failed and will be absent.
struct Settle {
  std::int64_t step = 0;
  Outcome outcome;
};
/// All steps from this one on fail.
struct Fail {
  Outcome outcome;
  std::int64_t from_step = 0;
};
/// The file is closed.
struct Closed {
  Outcome outcome;
};

// Orders for the lead itself, which answers each of them.

/// Find the answers to these questions.
struct Look {
  std::int64_t step = 0;
  std::shared_ptr<std::vector<Question>> questions;
};
/// Make these steps visible. The writers have made them durable.
struct Commit {
  std::int64_t first = 0;
  std::int64_t last = 0;
  struct Content {  ///< a variable that was put
    std::int64_t step = 0;
    std::int32_t variable = 0;
    contents::BlockSums sums{};
  };
  std::vector<Content> contents;
  bool has_values = false;  ///< somebody has put elements of the last step
};
/// Remove a step that failed.
struct Drop {
  std::int64_t step = 0;
};
/// End the single file that holds all steps.
struct Finish {
  std::int64_t steps = 0;  ///< number of ended steps
  bool is_kept = false;    ///< it has committed steps, or needs none
  bool has_failed = false;
};

using Order = std::variant<Expect, Fill, Sync, Settle, Fail, Closed, Look, Commit, Drop, Finish>;

}  // namespace iocomp::steps
