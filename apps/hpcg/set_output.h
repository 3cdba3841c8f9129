// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/session.h"
#include "hpcg/grid.h"
#include "hpcg/io_timers.h"

namespace iocomp::apps::hpcg {

/// A box of a global array, slowest dimension first, as files have it.
struct Part {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> count;
};

/// The points of a rank in the grid of all.
[[nodiscard]] Part part_of(const Grid& grid);
/// The values of a rank in a row of all values, by rank. Collective over `comm`.
[[nodiscard]] Part part_of(MPI_Comm comm, std::size_t values);

/// The file with what is put in each set: one variable, one step for each set.
class SetOutput {
 public:
  /// @param after  steps up to this one are kept, where the setting `existing` is "continue"; -1:
  /// none. @param verify  remember what was put. Collective over the compute ranks.
  SetOutput(const Session& session, std::string variable, Part part, std::int64_t after,
            bool verify, IoTimers& timers);

  /// @param values  must not change before wait() has returned.
  void put(std::int64_t set, std::span<const double> values);
  /// Sleep until what was put may change; at once if nothing was put.
  void wait();
  /// Sleep until this set is durable, if it was put by this job.
  void wait_durable(std::int64_t set);
  void close();
  /// Read back all that was put, after close(). Collective over the compute ranks. Needs `verify`.
  /// @throws std::runtime_error naming the first set of this rank that differs.
  void verify();

  /// Of all ranks together, as far as this job has put them.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  const Session& session_;
  std::string variable_;
  Part part_;
  bool remembers_;
  IoTimers& timers_;
  iocomp_file* file_ = nullptr;
  iocomp_var* values_ = nullptr;
  iocomp_ticket ticket_{};
  bool is_open_ = false;  ///< the ticket
  std::int64_t steps_ = 0;
  std::int64_t newest_ = -1;
  std::map<std::int64_t, std::uint64_t> put_{};  ///< hash of the values of this rank, by set
};

}  // namespace iocomp::apps::hpcg
