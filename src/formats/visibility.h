// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "base/path.h"
#include "formats/format.h"

namespace iocomp::formats {

/// The state of one file that readers see. A commit changes it, or leaves it as it was.
class Visibility {
 public:
  using Write = std::function<void(const Switch&)>;

  /// @param earlier  the file, where an earlier job has committed something to it.
  explicit Visibility(std::optional<Path> earlier = {}) : earlier_{std::move(earlier)} {}

  /// Show the next steps, and carry out the rest of the commit. If one of the two fails, the bytes
  /// seen before are written again. The data of the steps are durable already.
  /// @param write  writes a switch into the file, durable.
  /// @throws the error of the failure.
  void show(const Switch& next, const Write& write, const std::function<void()>& rest);

  /// True if a failure could not be undone. Then nothing more may be committed: readers may see
  /// what the next commit would write over.
  [[nodiscard]] bool is_stuck() const noexcept { return is_stuck_; }

 private:
  std::optional<Path> earlier_;
  Switch seen_;  // none: nothing of this job
  bool is_stuck_ = false;
};

}  // namespace iocomp::formats
