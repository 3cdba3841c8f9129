// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "common/put_array.h"
#include "stream/kernels.h"
#include "stream/options.h"

namespace iocomp::apps::stream {

/// The three arrays of one rank, and what they must hold.
class Arrays {
 public:
  /// @param memory_of  session whose iocomp_alloc gives the memory; null: the program's own.
  /// @param first  global index of this rank's first element.
  /// @param global  elements of all ranks together.
  Arrays(Pattern pattern, const Session* memory_of, std::size_t elements, std::int64_t first,
         std::int64_t global);

  /// Run `count` elements of a kernel from element `begin` on.
  void run(Kernel kernel, std::size_t begin, std::size_t count);

  /// The array that a kernel writes.
  [[nodiscard]] std::span<const double> written_by(Kernel kernel) const;
  [[nodiscard]] std::size_t size() const noexcept { return a_.size(); }

  /// STREAM's own check after `loops` loops. @return "" or what is wrong.
  [[nodiscard]] std::string mistake_after(int loops) const;

 private:
  [[nodiscard]] std::string mistake_in_stream(int loops) const;
  [[nodiscard]] std::string mistake_in_index(int loops) const;

  Pattern pattern_;
  double first_;
  double global_;
  PutArray a_;
  PutArray b_;
  PutArray c_;
};

}  // namespace iocomp::apps::stream
