// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>

namespace iocomp::server {

/// The compute ranks that wait for what they have put into a file, and up to which step.
class Hurry {
 public:
  /// @param durable  true if it waits until that is durable, false if until it is written.
  void note(int client, std::int64_t step, bool durable);
  [[nodiscard]] bool for_written(int client, std::int64_t step) const {
    return covers(written_, client, step);
  }
  [[nodiscard]] bool for_durable(int client, std::int64_t step) const {
    return covers(durable_, client, step);
  }
  /// Nobody waits any more for this step and those before it.
  void settle(std::int64_t step);

 private:
  using Steps = std::map<int, std::int64_t>;  // by client: the last one
  [[nodiscard]] static bool covers(const Steps& steps, int client, std::int64_t step);

  Steps written_;
  Steps durable_;
};

}  // namespace iocomp::server
