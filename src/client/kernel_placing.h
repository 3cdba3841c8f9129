#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "client/agreement.h"

namespace iocomp::client {

/// Where variables lie, for formats whose library decides it: at the end of a step the ranks tell
/// what they have put, rank 0 makes room and tells where. Nobody waits: a round is begun by each
/// rank when it ends the step, and goes on in later calls.
class KernelPlacing {
 public:
  struct Place {
    std::int64_t step = 0;
    int variable = 0;
    std::int64_t offset = -1;
  };
  struct Round {
    std::int64_t step = 0;
    Outcome outcome;
    std::vector<Place> places;
  };
  /// Rank 0 makes room for the variables of a step that somebody has put (flag 1).
  using Place0 = std::function<Round(std::int64_t step, const std::vector<std::int64_t>& flags)>;

  KernelPlacing(MPI_Comm comm, const std::vector<int>& members, Place0 place)
      : comm_{comm}, members_{members}, place_{std::move(place)} {}

  /// Begin a round. Collective over the file's ranks, in the same order.
  void begin(Agreement::Mine mine);
  /// Go on; calls `told` for each round that has ended, in order. @return whether anything moved.
  bool advance(const std::function<void(const Round&)>& told);
  [[nodiscard]] bool is_idle() const noexcept { return stage_ == Stage::idle && waiting_.empty(); }

 private:
  enum class Stage { idle, agreeing, count, places };
  bool advance_stage();

  MPI_Comm comm_;
  const std::vector<int>& members_;
  Place0 place_;
  std::deque<Agreement::Mine> waiting_;
  Stage stage_ = Stage::idle;
  std::unique_ptr<Agreement> agreement_;
  Collective operation_;
  Round round_;
};

}  // namespace iocomp::client
