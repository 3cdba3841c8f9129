#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/run_list.h"
#include "base/error.h"
#include "client/agreement.h"
#include "client/carrier.h"
#include "contents/catalogue.h"
#include "steps/put_log.h"

namespace iocomp::client {

/// Which elements nobody has put, of some variables in a file without servers, or twice. Where the
/// cover of a variable is a new one the ranks tell one another their puts; then each knows its
/// share of the holes. Nobody waits: it goes on in `advance`.
class KernelHoles {
 public:
  using Shares = std::map<int, std::shared_ptr<const array::RunList>>;  // by variable

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
  /// @param variables  what was put of each, as agreed by all ranks.
  void look(std::int64_t step, std::map<int, array::Cover> variables);
  /// Go on as far as that is possible now. @return whether it has ended.
  bool advance();
  /// overlapping_puts, told with whose they are: the same on all ranks.
  /// @pre advance(); so below.
  [[nodiscard]] const Outcome& outcome() const noexcept { return outcome_; }
  /// The holes that are this rank's to fill: about as much as of every other, unless there is
  /// little.
  [[nodiscard]] Shares shares() const;

 private:
  enum class Stage { count, join, ended };
  struct Gaps {
    array::Cover cover;
    array::Shape shape;
    std::shared_ptr<const array::RunList> share;
  };
  [[nodiscard]] std::vector<std::int64_t> my_puts() const;
  [[nodiscard]] std::vector<steps::PutRecord> all_puts() const;
  [[nodiscard]] Outcome look_at(int variable, const std::vector<steps::PutRecord>& puts);
  [[nodiscard]] array::RunList share_of(int variable, const array::RunList& holes) const;

  Circle circle_;
  int compute_rank_;
  const contents::Catalogue& catalogue_;
  bool may_overlap_;
  std::map<std::int64_t, steps::PutLog> puts_;  // by step
  std::map<int, Gaps> gaps_;                    // as they were last

  Stage stage_ = Stage::ended;
  std::int64_t step_ = 0;
  std::map<int, array::Cover> variables_;
  std::vector<int> unsure_;  // those of them whose holes are not known
  std::vector<std::int64_t> mine_;
  std::vector<std::int64_t> counts_;
  Collective operation_;
  Outcome outcome_;
};

}  // namespace iocomp::client
