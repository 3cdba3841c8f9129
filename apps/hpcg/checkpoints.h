// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/session.h"
#include "hpcg/cg.h"
#include "hpcg/grid.h"
#include "hpcg/io_timers.h"
#include "hpcg/set_output.h"

namespace iocomp::apps::hpcg {

/// Where a run stands, but for x, r and p.
struct Position {
  std::int64_t set = 0;
  Cg::Scalars scalars{};
  std::vector<double> residuals{};  ///< relative, after each iteration of the set
};

/// The checkpoints of a run: x, r, p and the scalars, so that it goes on with the same bits.
class Checkpoints {
 public:
  /// Collective over the compute ranks. @param after  the checkpoint that the run goes on behind;
  /// -1: none. @param iterations  of a set.
  Checkpoints(const Session& session, const Grid& grid, int iterations, std::int64_t after,
              IoTimers& timers);

  /// Put all. x, r and p must not change before take_back() has returned. Collective over the
  /// compute ranks where there are no servers.
  void write(const Position& position, std::span<const double> x, std::span<const double> r,
             std::span<const double> p);
  /// Sleep until they may change; at once if nothing was put.
  void take_back();
  void close();
  [[nodiscard]] std::int64_t written() const noexcept { return written_; }

  struct Restart {
    std::int64_t number;  ///< of the checkpoint
    Position position;
  };
  /// The newest checkpoint, if there is one. Collective over the compute ranks.
  /// @throws std::runtime_error for one of another problem.
  static std::optional<Restart> restore(const Session& session, const Grid& grid, int iterations,
                                        std::span<double> x, std::span<double> r,
                                        std::span<double> p);

 private:
  static constexpr std::size_t arrays = 3;

  Part part_;
  int iterations_;
  bool is_first_;  ///< of the ranks: it puts the scalars
  IoTimers& timers_;
  iocomp_file* file_ = nullptr;
  std::array<iocomp_var*, arrays> vectors_{};
  std::array<iocomp_ticket, arrays> tickets_{};
  iocomp_var* place_ = nullptr;
  iocomp_var* scalars_ = nullptr;
  iocomp_var* residuals_ = nullptr;
  bool is_open_ = false;  ///< the tickets
  std::int64_t written_ = 0;
};

}  // namespace iocomp::apps::hpcg
