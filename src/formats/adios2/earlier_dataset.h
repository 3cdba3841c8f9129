// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/open_folder.h"

namespace iocomp::formats::bp {

/// A dataset of BP4 that earlier jobs have written, and that a job goes on with.
class EarlierDataset {
 public:
  /// Cuts off what a job has left that ended while it wrote a step. One process alone.
  /// @param steps  that are kept.
  /// @throws Error{storage_failure}; Error{unsupported} for one of another engine.
  EarlierDataset(std::shared_ptr<const OpenFolder> folder, std::int64_t steps);

  /// The number of kept steps that ADIOS2 has written. It knows nothing of steps at the end that
  /// failed.
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }

  /// Drop all other steps: readers see them no more once the index is shorter, and what it led to
  /// is cut off after that. @throws Error{storage_failure}.
  void drop_others() const;

 private:
  void cut(const std::string& file, std::int64_t bytes) const;

  std::shared_ptr<const OpenFolder> folder_;
  std::int64_t steps_ = 0;
  std::int64_t index_bytes_ = 0;
  std::int64_t metadata_bytes_ = 0;
};

}  // namespace iocomp::formats::bp
