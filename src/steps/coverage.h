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

/// Elements that nobody has put, by variable. Variables that are cut alike may have one list.
using Holes = std::map<std::int32_t, std::shared_ptr<const array::RunList>>;

/// The holes that one of several writers fills. The shares are about equal; if there is little to
/// fill, fewer writers fill it.
[[nodiscard]] Holes share(const Holes& holes, int writer, int writers);

/// Puts of one variable that must be looked at. Finding the answer (`answer`) takes time; any
/// thread may do it.
struct Question {
  contents::Variable variable;
  array::Cover cover;  ///< sum over all puts
  std::vector<array::Part> parts;
  std::vector<std::int32_t> ranks;  ///< ranks that made the puts
  array::Coverage found{};
};
/// @throws Error{invalid_argument} for a part that is not inside the variable.
void answer(Question& question);

/// Decides whether the puts of a variable cover it with each element once. This is the only place
/// that decides it. A simulation puts the same blocks in every step, so a cover that is not exact
/// is looked at once and remembered.
class Coverage {
 public:
  /// @param may_overlap  puts of one step may overlap without a failure.
  Coverage(const contents::Catalogue& catalogue, bool may_overlap)
      : catalogue_{&catalogue}, may_overlap_{may_overlap} {}

  /// Elements that nobody has put.
  struct Unput {
    Holes holes;  ///< must be filled
    /// Read as zeros as they are. They are so short that pages of the file hardly lie between those
    /// of puts: to write them costs the disk nothing.
    Holes gaps;
  };
  struct Look {
    std::vector<std::int32_t> unsure;  ///< variables whose puts must be looked at
    Unput unput;                       ///< of the other variables
  };
  /// Compare the puts of a step with the shapes of the variables.
  [[nodiscard]] Look look(std::int64_t step, const Covers& put) const;

  /// One question for each of these variables, with its puts.
  [[nodiscard]] std::vector<Question> ask(std::int64_t step,
                                          const std::vector<std::int32_t>& variables,
                                          const Covers& put,
                                          const std::vector<PutRecord>& puts) const;
  /// Learn from the answers, and add what nobody has put. @return overlapping_puts if puts overlap
  /// and must not; then nothing is learned.
  [[nodiscard]] Outcome learn(std::int64_t step, const std::vector<Question>& answered,
                              Unput& unput);

 private:
  struct Known {  // the last cover of a variable that was looked at
    array::Cover cover;
    array::Shape shape;
    std::shared_ptr<const array::RunList> holes;
  };
  [[nodiscard]] bool is_filled(std::int64_t step, std::int32_t variable) const;
  void add(std::int64_t step, std::int32_t variable, const Known& known, Unput& unput) const;

  const contents::Catalogue* catalogue_;
  bool may_overlap_;
  std::map<std::int32_t, Known> known_;
};

}  // namespace iocomp::steps
