// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>

#include "common/put_array.h"
#include "stream/kernels.h"
#include "stream/options.h"

namespace iocomp::apps::stream {

/// The three arrays of one rank, or several sets of three, and their required values.
class Arrays {
 public:
  /// @param memory_of  session whose iocomp_alloc gives the memory; null: the program's own.
  /// @param first  global index of this rank's first element.
  /// @param global  elements of all ranks together.
  /// @param sets  each of three arrays.
  Arrays(Pattern pattern, const Session* memory_of, std::size_t elements, std::int64_t first,
         std::int64_t global, int sets = 1);

  /// Run `count` elements of a kernel from element `begin` on.
  void run(Kernel kernel, std::size_t begin, std::size_t count);
  /// All four kernels have run on all elements.
  void end_loop() { ++set().loops; }
  /// Go on with the next set, behind the last one with the first.
  void turn() noexcept { current_ = (current_ + 1) % sets_.size(); }

  /// The array that a kernel writes.
  [[nodiscard]] std::span<const double> written_by(Kernel kernel) const;
  [[nodiscard]] std::size_t size() const noexcept { return sets_.front().a.size(); }

  /// STREAM's own check. @return "" or what is wrong.
  [[nodiscard]] std::string mistake() const;

 private:
  struct Set {
    Set(const Session* memory_of, std::size_t elements)
        : a{memory_of, elements}, b{memory_of, elements}, c{memory_of, elements} {}
    PutArray a;
    PutArray b;
    PutArray c;
    int loops = 0;  // that have run on it
  };
  [[nodiscard]] Set& set() { return sets_[current_]; }
  [[nodiscard]] static std::string mistake_in_stream(const Set& set);
  [[nodiscard]] std::string mistake_in_index(const Set& set) const;

  Pattern pattern_;
  double first_;
  double global_;
  std::deque<Set> sets_;
  std::size_t current_ = 0;
};

}  // namespace iocomp::apps::stream
