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

/// What the writers of a file do together, where a format wants all of them.
enum class Action : std::uint8_t {
  create = 1,   ///< start the physical file of a step (-1: of all steps)
  flush = 2,    ///< write the step that is complete, where a library writes whole steps
  finish = 3,   ///< end the physical file
  discard = 4,  ///< end a physical file that failed: what is not settled is not described, because
                ///< writers need not know the same of it
};

// To everybody.

/// All members have ended a step: how many pieces each writer gets of it, and the variables of
/// which it reports the puts when it is done.
struct Expect {
  std::int64_t step = 0;
  std::vector<std::int64_t> pieces;  ///< by writer
  std::vector<std::int32_t> report;
};
/// Nobody has put these elements: each writer fills its share (`share`) and reports once more that
/// it is done.
struct Fill {
  std::int64_t step = 0;
  Holes holes;
};
/// All of a step is written and filled: each writer makes its part durable and reports once more
/// that it is done.
struct Sync {
  std::int64_t step = 0;
};
/// A step is committed, or it failed and will be absent.
struct Settle {
  std::int64_t step = 0;
  Outcome outcome;
};
/// Steps from this one on fail, whatever comes.
struct Fail {
  Outcome outcome;
  std::int64_t from_step = 0;
};
/// The file is at its end.
struct Closed {
  Outcome outcome;
};

// To the lead itself, which answers each.

/// Find the answers.
struct Look {
  std::int64_t step = 0;
  std::shared_ptr<std::vector<Question>> questions;
};
/// Make these steps visible: all of it is durable with the writers.
struct Commit {
  std::int64_t first = 0;
  std::int64_t last = 0;
  struct Content {  ///< a variable that was put
    std::int64_t step = 0;
    std::int32_t variable = 0;
    contents::BlockSums sums{};
  };
  std::vector<Content> contents;
};
/// A step failed: what there is of it goes.
struct Drop {
  std::int64_t step = 0;
};
/// End the one file of all steps.
struct Finish {
  std::int64_t steps = 0;  ///< that were ended
  bool is_kept = false;    ///< it has committed steps, or needs none
  bool has_failed = false;
};

using Order = std::variant<Expect, Fill, Sync, Settle, Fail, Closed, Look, Commit, Drop, Finish>;

}  // namespace iocomp::steps
