// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "client/block.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "protocol/messages.h"
#include "steps/ended.h"
#include "steps/predecessors.h"

namespace iocomp::client {

using PutSums = std::vector<steps::PutSum>;

/// The report of a rank with the end of a step, besides what it has put.
struct StepEnd {
  PutSums sums{};                      ///< of the blocks that were put, if checksums are taken
  steps::Predecessors predecessors{};  ///< steps of other files that must be committed first
  bool is_unfinished = false;          ///< the program drops the step
};

/// Carries out what the program asks of one file, through servers or in the compute ranks
/// themselves. File (file.h) has checked all that can be checked without others.
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;

  /// An event that this rank's catalogue has applied.
  virtual void announce(const contents::Event& event, std::int64_t sequence) = 0;
  /// Called before the first put of a step, and before its end. May wait for earlier steps.
  virtual void enter_step(std::int64_t step) = 0;
  virtual void put(const Block& block) = 0;
  /// A block of a variable without elements. Nothing travels, but the variable was put.
  virtual void put_nothing(const Block& block) = 0;
  virtual void end_step(std::int64_t step, const StepEnd& end) = 0;
  /// True if every further step fails, and each call for one is told so.
  [[nodiscard]] virtual bool is_lost() const { return false; }
  /// Sleep until the step is committed. @throws Error with the failure of the step.
  virtual void wait_step(std::int64_t step) = 0;
  /// A step of another file comes after this step, which must therefore be committed soon. Members
  /// of a synchronous file commit it here, together.
  virtual void hurry(std::int64_t /*step*/) {}
  /// Tell the lead of this file how far another file has come.
  /// @param waits  true if the caller may wait. @return false if it may not, and had to.
  [[nodiscard]] virtual bool tell_of(const protocol::Other& /*other*/, bool /*waits*/) {
    return true;
  }
  /// Do what is needed so that a ticket comes to a state without further calls of put or end_step.
  /// @throws Error{invalid_argument} when only an end_step can bring it there.
  virtual void urge(std::uint64_t ticket, State state) = 0;
  /// The program waits for the memory of a block from now on.
  virtual void wanted_back(std::uint64_t /*ticket*/) {}
  /// Nothing more is put: begin to settle everything. Members of a synchronous file do it here,
  /// together. `open_step` is the step that was not ended; `end` is as for `end_step`.
  virtual void begin_close(std::int64_t open_step, const StepEnd& end) = 0;
  /// True if `close` would not wait.
  [[nodiscard]] virtual bool is_closed() = 0;
  /// Sleep until everything is settled. @pre begin_close
  [[nodiscard]] virtual Outcome close() = 0;
  /// The program ends without closing the file, and its arrays may be gone. Tells the others, and
  /// begins to close, but in a synchronous file. Waits for nobody.
  /// @return the first step that is lost by it.
  [[nodiscard]] virtual std::int64_t give_up(std::int64_t open_step, const Outcome& why) = 0;
};

}  // namespace iocomp::client
