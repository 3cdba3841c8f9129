// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace actor {

/// The deeds of one rank, one JSON object per line, on disk as soon as they happened: a rank may be
/// killed at any moment.
class Journal {
 public:
  Journal(const std::string& folder, int world_rank);

  /// Add `entry`; rank and the time since the start are added here.
  void write(nlohmann::json entry);
  void set_compute_rank(int rank) { compute_rank_ = rank; }

 private:
  std::ofstream file_;
  int world_rank_;
  int compute_rank_ = -1;
  double began_;
};

/// Seconds of a clock that never jumps.
[[nodiscard]] double now_seconds();

}  // namespace actor
