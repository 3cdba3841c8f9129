// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/box.h"
#include "contents/variable.h"

namespace iocomp::contents {

/// The offsets of raw variables in a file. They follow from the order of `define`, `set_shape` and
/// `end_step` alone, so that every process that saw the same calls computes the same. Steps follow
/// one another. Within a step the variables follow in order of definition, each beginning at a
/// multiple of the alignment. Room is kept for variables that nobody puts.
///
/// A variable defined in step s exists from s on; a shape set in step s holds from s on.
class Layout {
 public:
  /// @param one_file  all steps in one file; else each step is a file of its own and offsets begin
  /// at 0 in each.
  Layout(std::int64_t alignment_bytes, bool one_file)
      : alignment_{alignment_bytes}, one_file_{one_file} {}

  /// The first step of one file begins at this byte, or at the next multiple of the alignment.
  void begin_at(std::int64_t base);
  /// @throws Error{invalid_argument}, so below, where 63 bits do not count the bytes of a step;
  /// then nothing has changed.
  void define(int id, std::int64_t bytes, std::int64_t step);
  void set_bytes(int id, std::int64_t bytes, std::int64_t step);

  /// Offset of the first byte of a variable in a step. @pre the variable is defined by then.
  [[nodiscard]] std::int64_t offset(int id, std::int64_t step) const;
  /// End of the last variable of a step: the size of a file that ends with this step.
  [[nodiscard]] std::int64_t end(std::int64_t step) const;

 private:
  struct Epoch {  // a range of steps with equal sizes
    std::int64_t first_step;
    std::int64_t base;                 // offset of first_step
    std::vector<std::int64_t> bytes;   // by variable id
    std::vector<std::int64_t> starts;  // in the step; the last is its length
  };
  Epoch& epoch_from(std::int64_t step);
  [[nodiscard]] const Epoch& epoch_of(std::int64_t step) const;
  [[nodiscard]] std::int64_t begin(const Epoch& epoch, std::int64_t step) const;  // of a step

  std::int64_t alignment_;
  bool one_file_;
  std::int64_t base_ = 0;
  std::vector<Epoch> epochs_;
};

}  // namespace iocomp::contents
