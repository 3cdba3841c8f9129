#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "array/run_list.h"
#include "base/error.h"
#include "client/agreement.h"
#include "client/carrier.h"
#include "contents/catalogue.h"
#include "steps/coverage.h"
#include "steps/ended.h"
#include "steps/put_log.h"

namespace iocomp::client {

/// Which elements nobody has put, of some variables in a file without servers, or twice. Where the
/// cover of a variable is a new one the ranks tell one another their puts; then each knows its
/// share of the holes. Nobody waits: it goes on in `advance`.
class KernelHoles {
 public:
  /// @param members  compute ranks of the ranks in the circle.
  /// @param may_overlap  puts of one step: nobody is told.
  KernelHoles(Circle circle, const std::vector<int>& members, const contents::Catalogue& catalogue,
              bool may_overlap);

  /// This rank puts a block.
  void note(const Block& block);
  /// What this rank has put of a step before this object was there.
  void take_over(std::int64_t step, steps::PutLog puts);
  void forget_until(std::int64_t step) { puts_.erase(puts_.begin(), puts_.lower_bound(step)); }

  /// Begin to look at a step. Collective over the circle, between other operations.
  /// @param put  as agreed by all ranks.
  void look(std::int64_t step, steps::Covers put);
  /// Go on as far as that is possible now. @return whether it has ended.
  bool advance();
  /// overlapping_puts, told with whose they are: the same on all ranks.
  /// @pre advance(); so below.
  [[nodiscard]] const Outcome& outcome() const noexcept { return outcome_; }
  /// Whether some rank has something to fill: the same on all ranks.
  [[nodiscard]] bool has_holes() const noexcept { return !look_.holes.empty(); }
  /// The holes that are this rank's to fill.
  [[nodiscard]] std::map<std::int32_t, array::RunList> share() const {
    return steps::share(look_.holes, circle_.rank(), circle_.size());
  }

 private:
  enum class Stage { count, join, ended };
  [[nodiscard]] std::vector<std::int64_t> my_puts() const;
  [[nodiscard]] std::vector<steps::PutRecord> all_puts() const;
  void learn();

  Circle circle_;
  int compute_rank_;
  steps::Coverage coverage_;
  std::map<std::int64_t, steps::PutLog> puts_;  // by step

  Stage stage_ = Stage::ended;
  std::int64_t step_ = 0;
  steps::Covers put_;
  steps::Coverage::Look look_;
  std::vector<std::int64_t> mine_;
  std::vector<std::int64_t> counts_;
  Collective operation_;
  Outcome outcome_;
};

}  // namespace iocomp::client
