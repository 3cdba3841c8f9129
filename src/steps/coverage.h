// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/coverage.h"
#include "array/run_list.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "steps/ended.h"
#include "steps/put_log.h"

namespace iocomp::steps {

/// Elements that nobody has put, by variable.
using Holes = std::map<std::int32_t, std::shared_ptr<const array::RunList>>;

/// The share of one of several writers of these holes: about as much for each, unless there is
/// little.
[[nodiscard]] std::map<std::int32_t, array::RunList> share(const Holes& holes, int writer,
                                                           int writers);

/// Puts of one variable that are to be looked at. The answer takes time (`answer`), and may be
/// found by any thread.
struct Question {
  contents::Variable variable;
  array::Cover cover;  ///< of all of them
  std::vector<array::Part> parts;
  std::vector<std::int32_t> ranks;  ///< whose they are
  array::Coverage found{};
};
/// @throws Error{invalid_argument} for a part that is not inside the variable.
void answer(Question& question);

/// Whether what is put of a variable covers it, each element once: the one place where that is
/// decided. A simulation puts the same in every step, so what is not covered exactly is looked at
/// once, and remembered.
class Coverage {
 public:
  /// @param may_overlap  puts of one step that overlap are no failure.
  Coverage(const contents::Catalogue& catalogue, bool may_overlap)
      : catalogue_{&catalogue}, may_overlap_{may_overlap} {}

  struct Look {
    std::vector<std::int32_t> unsure;  ///< variables whose puts must be looked at
    Holes holes;                       ///< of the others: elements that must be filled
  };
  /// Compare what was put in a step with what there is.
  [[nodiscard]] Look look(std::int64_t step, const Covers& put) const;

  /// Puts of the unsure variables, one question for each.
  [[nodiscard]] std::vector<Question> ask(std::int64_t step,
                                          const std::vector<std::int32_t>& variables,
                                          const Covers& put,
                                          const std::vector<PutRecord>& puts) const;
  /// Learn from the answers. Adds holes that must be filled. @return overlapping_puts, if there
  /// are any that may not be; then nothing is learned.
  [[nodiscard]] Outcome learn(std::int64_t step, const std::vector<Question>& answered,
                              Holes& holes);

 private:
  struct Known {  // of a variable as it was covered last
    array::Cover cover;
    array::Shape shape;
    std::shared_ptr<const array::RunList> holes;
  };
  [[nodiscard]] bool is_filled(std::int64_t step, std::int32_t variable) const;

  const contents::Catalogue* catalogue_;
  bool may_overlap_;
  std::map<std::int32_t, Known> known_;
};

}  // namespace iocomp::steps
