// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/part.h"
#include "common/session.h"

namespace iocomp::apps {

/// Elements that follow one another in the file, and in the memory of a rank.
struct Run {
  std::int64_t first;  ///< row-major index in the global array
  std::int64_t count;
};

/// Runs of a global array, one after the other in memory, in the order of the file.
class RunsPart : public Part {
 public:
  /// @param runs  ascending; none goes beyond a line of the fastest dimension. Local.
  RunsPart(const Session& session, Indices shape, std::vector<Run> runs);
  RunsPart(const RunsPart&) = delete;
  RunsPart& operator=(const RunsPart&) = delete;
  ~RunsPart() override { iocomp_decomp_free(decomposition_); }

  [[nodiscard]] std::size_t elements() const noexcept override { return elements_; }
  void put(iocomp_var* variable, const double* values, iocomp_ticket* ticket) const override;
  /// Reads whole lines of which this rank has runs, some MiB at a time, and takes its runs out.
  void read(iocomp_input* input, const std::string& variable, std::int64_t step,
            std::span<double> values) const override;

 private:
  std::vector<Run> runs_;
  std::size_t elements_ = 0;
  iocomp_decomp* decomposition_ = nullptr;
};

}  // namespace iocomp::apps
