// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "array/decomposition.h"
#include "array/element_type.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/conversions.h"
#include "client/guard.h"
#include "client/link.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "contents/rules.h"
#include "contents/variable.h"
#include "steps/predecessors.h"

namespace iocomp::client {

/// The puts of this rank into one file. It knows how many the open step has, which the program has
/// awaited, and the step of each put variable that has values in only one step.
class OwnPuts {
 public:
  [[nodiscard]] std::int64_t in_step() const noexcept { return in_step_; }
  void add() noexcept { ++in_step_; }
  void end_step() noexcept { in_step_ = 0; }
  /// The program does not finish the open step.
  void drop_step() noexcept { is_dropped_ = true; }
  [[nodiscard]] bool is_dropped() const noexcept { return is_dropped_; }
  /// True if closing ends the open step.
  [[nodiscard]] bool are_kept() const noexcept { return in_step_ > 0 && !is_dropped_; }
  /// The first ticket that the program has not awaited in this state, after those that it has.
  [[nodiscard]] std::uint64_t& not_awaited(State state) {
    return not_awaited_.at(static_cast<std::size_t>(state));
  }
  /// A block with elements is about to be put in a step.
  /// @throws Error{unsupported} if the variable has values in only one step, and had them before.
  void check(const contents::Catalogue& catalogue, const contents::Variable& variable,
             std::int64_t step);

 private:
  std::int64_t in_step_ = 0;
  bool is_dropped_ = false;
  std::array<std::uint64_t, 4> not_awaited_{};  // by state
  std::map<int, std::int64_t> once_;            // by variable: its step
};

/// The arguments of a put, unchecked.
struct PutArguments {
  const std::int64_t* start = nullptr;
  const std::int64_t* count = nullptr;
  const array::Decomposition* decomposition = nullptr;  ///< instead of a box
  const void* values = nullptr;
  std::optional<array::ElementType> type{};    ///< of the values; empty: that of the definition
  const std::int64_t* memory_shape = nullptr;  ///< null: the block is dense
  const std::int64_t* memory_start = nullptr;
  bool buffered = false;
};

/// A file on a compute rank. It checks what the program says, keeps the catalogue and counts steps;
/// the carrier does the rest.
class File {
 public:
  struct Setup {
    std::string name;
    std::uint64_t key = 0;
    contents::Rules rules;
    std::int64_t alignment_bytes = 1;
    bool one_file = false;
    contents::KeptBits kept_bits{};
    Conversions::KeptType kept_type{};
    bool is_first_member = false;
    contents::Attributes time_attributes{};  ///< of the variable that the library makes of times
    double seconds_per_byte = 0;  ///< of one writer, if it keeps to the bandwidth of the file
  };
  File(Setup setup, Link& link);

  /// Set the carrier. It needs the catalogue, so it comes second.
  void carry_with(std::unique_ptr<Carrier> carrier) {
    carrier_ = std::move(carrier);
    closing_ = closing_ == Closing::no ? Closing::no : Closing::asked;
  }

  /// See Catalogue.
  void begin_at(const contents::Beginning& beginning) { catalogue_.begin_at(beginning); }

  /// Called when the carrier is lost: moves all files of the session to other carriers.
  void when_carrier_is_lost(std::function<void()> react) { react_ = std::move(react); }
  [[nodiscard]] Carrier& carrier() noexcept { return *carrier_; }

  /// Take checksums of the blocks that are put, for the manifest.
  void sum_blocks() { sums_.emplace(); }

  /// Let steps come after those of other files. `find` is called when a step ends.
  void come_after(std::function<steps::Predecessors()> find) { predecessors_ = std::move(find); }
  /// The steps that this rank has ended. Closing ends a step that has puts.
  [[nodiscard]] std::int64_t ended_steps() const noexcept {
    return step_ + (closing_ != Closing::no && puts_.are_kept() ? 1 : 0);
  }

  /// From here on the file goes over to synchronous output on this rank if that is faster.
  void watch_with(Guard guard) { guard_ = std::move(guard); }

  /// The arguments of a definition, unchecked.
  struct Definition {
    std::string name;
    array::ElementType type = array::ElementType::float64;  ///< type of what is put
    std::optional<array::ElementType> file_type{};  ///< empty: as the settings say, or as `type`
    int dimensions = 0;
    const std::int64_t* shape = nullptr;
    std::string names{};  ///< of the dimensions, as the attribute has them; empty: none
  };
  int define(const Definition& said);
  /// True if dimensions have names in files of the format.
  [[nodiscard]] bool names_dimensions() const noexcept { return catalogue_.rules().has_dimensions; }
  void set_shape(int variable, const std::int64_t* shape);
  /// @param variable  -1 for the file itself.
  void set_attribute(int variable, const std::string& name, contents::Attribute value);
  /// @throws Error{invalid_argument}, before anybody is asked, if rows cannot be set.
  void check_rows(std::span<const int> variables, std::span<const std::int64_t> rows,
                  std::int64_t most) const;
  /// Give variables so many rows from the current step on.
  void set_rows(std::span<const int> variables, std::span<const std::int64_t> totals);
  /// @param value  one element of the type of the definition.
  void set_fill(int variable, const void* value);
  /// Give the current step a number, and a physical time unless that is NaN. The time becomes the
  /// scalar variable "time", which the first member puts.
  void begin_step(std::int64_t number, double time);
  /// The program does not finish the current step: closing drops it. Local.
  void drop_step();
  /// @return the number of the ticket.
  std::uint64_t put(int variable, const PutArguments& arguments);
  void end_step();
  /// @param number  of a step that this rank has ended.
  void wait_step(std::int64_t number);
  [[nodiscard]] OwnPuts& puts() noexcept { return puts_; }
  void urge(std::uint64_t ticket, State state) {
    carry([&] { carrier_->urge(ticket, state); });
  }
  /// The program waits for the memory of a block from now on.
  void wanted_back(std::uint64_t ticket) {
    carry([&] { carrier_->wanted_back(ticket); });
  }
  /// Nothing more is put. Waits for nobody, except members of a synchronous file.
  void begin_close();
  /// Go on with a close that was begun. @return true if `close` would not wait.
  [[nodiscard]] bool is_closed();
  /// Sleep until everything is settled. Failures are in the book of failures.
  void close();
  /// See Carrier::give_up.
  [[nodiscard]] std::int64_t give_up(const Outcome& why) { return carrier_->give_up(step_, why); }

  /// The number of the current step.
  [[nodiscard]] std::int64_t current_step() const { return catalogue_.number(step_); }
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const contents::Catalogue& catalogue() const noexcept { return catalogue_; }

 private:
  /// Make a call of the carrier. If the servers are lost, repeat it with the carrier that follows.
  template <typename Call>
  void carry(Call&& call) {
    if (!link_.loss() || !link_.has_servers()) {
      try {
        call();
        return;
      } catch (const ServersLost&) {
      }
    }
    react_();
    call();
  }
  [[nodiscard]] StepEnd step_end(PutSums sums) const;
  void check_step() const;
  void close_carrier();
  void announce(const contents::Event& event);
  void check_is_in_time(const contents::Event& event, const std::string& call) const;
  [[nodiscard]] std::string after_puts() const;  // for messages
  void check_has_no_puts(const std::string& call) const;
  void prepare(Block& block, std::optional<array::ElementType> type);
  void put_summed(const Block& block);
  void consult_guard(std::int64_t ended);
  void hold_back(std::int64_t step);
  void define_time();
  void put_time();

  std::string name_;
  std::uint64_t key_;
  double seconds_per_byte_;
  contents::Catalogue catalogue_;
  Link& link_;
  std::unique_ptr<Carrier> carrier_;
  std::int64_t step_ = 0;
  OwnPuts puts_;
  Conversions conversions_;
  struct Time {
    int variable = -1;  // of the library itself
    bool is_put_here = false;
    contents::Attributes attributes;
  };
  Time time_;
  enum class Closing { no, asked, begun } closing_ = Closing::no;  // begun: the carrier knows it
  std::optional<PutSums> sums_;  // of the open step, if checksums are taken
  std::optional<Guard> guard_;
  std::function<steps::Predecessors()> predecessors_;  // null: there are none
  std::function<void()> react_;
};

}  // namespace iocomp::client
