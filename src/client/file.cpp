// SPDX-License-Identifier: BSD-3-Clause
#include "client/file.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/decomposition.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "array/pieces.h"
#include "array/region.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "client/carrier.h"
#include "client/conversions.h"
#include "client/link.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "steps/ends.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::client {

void OwnPuts::check(const contents::Catalogue& catalogue, const contents::Variable& variable,
                    std::int64_t step) {
  if (!catalogue.has_one_step(variable)) {
    return;
  }
  const auto [first, is_new] = once_.try_emplace(variable.id, step);
  if (first->second != step) {
    throw contents::once_only(variable, catalogue.number(first->second), catalogue.number(step));
  }
}

namespace {

constexpr std::size_t summed_beside_bytes = std::size_t{4} << 20;

/// Run a part of a call. The story of a failure begins with the call and the file.
template <typename Body>
void within(const std::string& call, const std::string& file, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    throw Error{error.code(), call + " of file \"" + file + "\": " + error.what()};
  }
}

// Takes the part of this rank in the decomposition. @throws Error{invalid_argument}.
void take_part(const array::Decomposition& decomposition, Block& block) {
  if (decomposition.shape != block.variable.shape) {
    throw Error{ErrorCode::invalid_argument,
                "the decomposition is of an array of shape " + array::text(decomposition.shape) +
                    ", the variable has " + array::text(block.variable.shape)};
  }
  block.region = decomposition.runs;
  block.gather = decomposition.gather;
  block.cover = decomposition.cover;
  block.memory = array::dense_memory(decomposition.runs->elements());
}

}  // namespace

File::File(Setup setup, Link& link)
    : name_{std::move(setup.name)},
      key_{setup.key},
      seconds_per_byte_{setup.seconds_per_byte},
      catalogue_{setup.rules, setup.alignment_bytes, setup.one_file, std::move(setup.kept_bits)},
      link_{link},
      conversions_{std::move(setup.kept_type)},
      time_{.is_put_here = setup.is_first_member, .attributes = std::move(setup.time_attributes)} {
  link_.gpu_memory().look_ahead();  // the module of the format is there by now
}

void File::check_is_in_time(const contents::Event& event, const std::string& call) const {
  if (catalogue_.comes_before_puts(event)) {
    check_has_no_puts(call);
  }
}

std::string File::after_puts() const {
  const auto puts = puts_.in_step();
  return "after " + std::to_string(puts) + (puts == 1 ? " put" : " puts") + " of step " +
         std::to_string(current_step());
}

void File::check_has_no_puts(const std::string& call) const {
  if (puts_.in_step() > 0) {
    throw Error{ErrorCode::invalid_argument, call + " of file \"" + name_ + "\": " + after_puts() +
                                                 "; it must come before the first put of a step"};
  }
}

void File::announce(const contents::Event& event) {
  const std::int64_t sequence = catalogue_.events();
  catalogue_.apply(event);
  conversions_.forget();
  carry([&] { carrier_->announce(event, sequence); });
}

int File::define(const Definition& said) {
  contents::Event event;
  event.what = contents::Event::What::define;
  event.step = step_;
  event.name = said.name;
  const std::string call = "define(\"" + said.name + "\")";
  within(call, name_, [&] {
    event.shape = array::make_shape(said.dimensions, said.shape);
    contents::Variable variable{0, said.name, said.file_type.value_or(said.type), event.shape};
    if (!said.names.empty()) {
      variable.dimensions = said.names;
    }
    event.type = conversions_.in_file(variable, said.type);
  });
  check_is_in_time(event, call);
  announce(event);
  conversions_.defined(said.type);
  return catalogue_.variables() - 1;
}

void File::set_shape(int variable, const std::int64_t* shape) {
  const auto known = catalogue_.variable(variable, step_);
  contents::Event event;
  event.what = contents::Event::What::set_shape;
  event.step = step_;
  event.variable = variable;
  const std::string call = "set_shape(\"" + known.name + "\")";
  within(call, name_, [&] { event.shape = array::make_shape(known.shape.dimensions, shape); });
  check_is_in_time(event, call);
  announce(event);
}

void File::check_rows(std::span<const int> variables, std::span<const std::int64_t> rows,
                      std::int64_t most) const {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto known = catalogue_.variable(variables[i], step_);
    const std::string call = "set_rows(\"" + known.name + "\") of file \"" + name_ + "\": ";
    if (known.shape.dimensions == 0) {
      throw Error{ErrorCode::invalid_argument, call + "a scalar has no rows"};
    }
    if (rows[i] < 0 || rows[i] > most) {
      throw Error{ErrorCode::invalid_argument,
                  call + std::to_string(rows[i]) + " is no number of rows"};
    }
    if (puts_.in_step() > 0) {
      throw Error{ErrorCode::invalid_argument,
                  call + after_puts() +
                      "; rows are set before the first put of a step, of several variables in one "
                      "call"};
    }
  }
}

void File::set_rows(std::span<const int> variables, std::span<const std::int64_t> totals) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    auto shape = catalogue_.variable(variables[i], step_).shape;
    if (shape.extent[0] != totals[i]) {
      shape.extent[0] = totals[i];
      set_shape(variables[i], shape.extent.data());
    }
  }
}

void File::set_attribute(int variable, const std::string& name, contents::Attribute value) {
  contents::Event event;
  event.what = contents::Event::What::attribute;
  event.step = step_;
  event.variable = variable;
  event.name = name;
  const std::string call = "the attribute \"" + name + '"';
  // The settings may give the variable another type than the program knows.
  if (variable >= 0 && name == contents::fill_attribute && value.count() == 1 &&
      value.type == conversions_.put_type(variable)) {
    const auto known = catalogue_.variable(variable, step_);
    within(call, name_, [&] { value.values = conversions_.element(known, value.values.data()); });
    value.type = known.type;
  }
  event.attribute = std::move(value);
  check_is_in_time(event, call);
  announce(event);
}

void File::set_fill(int variable, const void* value) {
  const auto known = catalogue_.variable(variable, step_);
  const std::string call = "set_fill(\"" + known.name + "\")";
  check_has_no_puts(call);
  contents::Attribute attribute;
  attribute.type = known.type;
  within(call, name_, [&] { attribute.values = conversions_.element(known, value); });
  set_attribute(variable, contents::fill_attribute, std::move(attribute));
}

void File::begin_step(std::int64_t number, double time) {
  const std::string call = "begin_step(" + std::to_string(number) + ')';
  if (std::isinf(time)) {
    throw Error{ErrorCode::invalid_argument,
                call + " of file \"" + name_ +
                    "\": its time is infinite; it is a number, or NaN where none is known"};
  }
  contents::Event event;
  event.what = contents::Event::What::begin_step;
  event.step = step_;
  event.number = number;
  event.time = time;
  check_is_in_time(event, call);
  within(call, name_, [&] {
    catalogue_.check_begin(event);
    const Outcome defined = std::isnan(time) ? Outcome{} : outcome_of([&] { define_time(); });
    if (!defined.ok()) {  // nothing has begun then
      throw Error{defined.code, "its time would be the variable \"time\": " + defined.story};
    }
    if (number != current_step() || !std::isnan(time)) {
      announce(event);
    }
  });
}

// The first member tells it, since the program may have handled what it was dropped for.
void File::drop_step() {
  if (puts_.are_kept() && time_.is_put_here) {
    log::warning(steps::unfinished(name_, current_step()).story);
  }
  puts_.drop_step();
}

void File::check_step() const {
  catalogue_.check_step(step_);
  if (puts_.is_dropped()) {
    throw Error{ErrorCode::invalid_argument, "step " + std::to_string(current_step()) +
                                                 " was dropped: the file can only be closed"};
  }
}

void File::define_time() {
  if (time_.variable >= 0 || catalogue_.has_variable(contents::time_variable)) {
    return;
  }
  catalogue_.check_goes_on(contents::time_variable, time_.attributes);
  time_.variable = define({.name = contents::time_variable});
  for (const auto& [name, value] : time_.attributes) {
    set_attribute(time_.variable, name, value);
  }
}

// Puts the time at the end of the step, because shapes may change after the step has begun.
void File::put_time() {
  const double time = catalogue_.time(step_);
  if (time_.variable >= 0 && time_.is_put_here && !std::isnan(time)) {
    PutArguments arguments;
    arguments.values = &time;
    arguments.buffered = true;
    put(time_.variable, arguments);
  }
}

std::uint64_t File::put(int variable, const PutArguments& arguments) {
  Block block;
  block.variable = catalogue_.variable(variable, step_);
  block.step = step_;
  try {
    check_step();
    catalogue_.check_goes_on(variable, step_);
    if (arguments.decomposition != nullptr) {
      take_part(*arguments.decomposition, block);
    } else {
      const auto box = array::make_box(block.variable.shape, arguments.start, arguments.count);
      block.region = box;
      block.cover = array::cover_of(block.variable.shape, block.region);
      block.memory = array::make_memory_box(box, arguments.memory_shape, arguments.memory_start);
    }
    if (array::elements(block.region) > 0) {
      puts_.check(catalogue_, block.variable, step_);
    }
  } catch (const Error& error) {
    throw Error{error.code(), "put of \"" + block.variable.name + "\" into file \"" + name_ +
                                  "\": " + error.what()};
  }
  if (arguments.values == nullptr && array::elements(block.region) > 0) {
    throw Error{ErrorCode::invalid_argument, "put of \"" + block.variable.name + "\" into file \"" +
                                                 name_ + "\": values is null, the block has " +
                                                 std::to_string(array::elements(block.region)) +
                                                 " elements"};
  }
  block.values = static_cast<const std::byte*>(arguments.values);
  block.buffered = arguments.buffered;
  block.crew = link_.crew();
  prepare(block, arguments.type);

  if (puts_.in_step() == 0) {
    carry([&] { carrier_->enter_step(step_); });
  }
  puts_.add();
  Ticket ticket;
  ticket.file = key_;
  ticket.step = step_;
  ticket.variable = block.variable.name;
  ticket.put_at = now_seconds();
  block.ticket = link_.tickets().open(std::move(ticket));
  trace::describe_span(link_.counters().timeline(),
                       {.file = name_,
                        .step = step_,
                        .bytes = static_cast<std::int64_t>(block.bytes()),
                        .ticket = block.ticket});
  link_.counters().add(trace::Counter::puts, 1);
  link_.counters().add(trace::Counter::put_bytes, static_cast<double>(block.bytes()));
  if (array::elements(block.region) > 0) {
    put_summed(block);
  } else if (array::elements(block.variable.shape) == 0) {
    carry([&] { carrier_->put_nothing(block); });
  }
  link_.ledger().tell_hand_over(block.ticket);
  link_.tickets().settle(block.ticket);
  return block.ticket;
}

// Finds where the values are, and how they are converted, before anybody knows of the put. So a
// refusal costs nothing. Values of a GPU are copied, so they are free when put returns.
void File::prepare(Block& block, std::optional<array::ElementType> type) {
  if (array::elements(block.region) == 0) {
    return;
  }
  try {
    block.conversion = conversions_.find(catalogue_, block.variable, step_,
                                         type.value_or(conversions_.put_type(block.variable.id)));
    const auto [begin, end] = block.reach();
    block.gpu = link_.gpu_memory().find(block.values, begin, end);
    if (const auto unfit = block.first_unfit()) {
      const auto& shape = block.variable.shape;
      throw Error{
          ErrorCode::invalid_argument,
          "the element " +
              array::index_text(shape, array::index_of(shape, block.region, unfit->element)) +
              " is " + unfit->story};
    }
  } catch (const Error& error) {
    throw Error{error.code(), "put of \"" + block.variable.name + "\" into file \"" + name_ +
                                  "\": " + error.what()};
  }
  if (block.gpu) {
    block.buffered = true;
    link_.counters().add(trace::Counter::gpu_bytes, static_cast<double>(block.bytes()));
  }
}

// The block is summed while it is on its way, because its values stay until put returns. If put
// waits for the disk, a thread sums a large block meanwhile.
void File::put_summed(const Block& block) {
  const auto send = [&] { carry([&] { carrier_->put(block); }); };
  if (!sums_ || block.region.runs) {
    send();
    return;
  }
  std::uint64_t checksum = 0;
  const auto look = [&] { checksum = block.checksum(); };
  std::jthread beside;
  if (block.bytes() >= summed_beside_bytes && !block.gpu) {
    try {
      beside = start_thread("iocomp-checksum", [&](const std::stop_token& /*stop*/) { look(); });
    } catch (const std::system_error&) {  // there is no thread
    }
  }
  send();
  const trace::Timer timer{link_.counters(), trace::Counter::checksum_seconds,
                           trace::What::checksum};
  if (beside.joinable()) {
    beside.join();
  } else {
    look();
  }
  if (has_bug(Bug::checksum_of_another) && !sums_->empty()) {
    checksum = sums_->back().block.checksum;
  }
  sums_->push_back({block.variable.id, {block.region.box, checksum}});
}

void File::end_step() {
  within("end_step", name_, [&] { check_step(); });
  try {
    put_time();
    if (puts_.in_step() == 0) {
      carry([&] { carrier_->enter_step(step_); });
    }
  } catch (const Error&) {
    // The program has ended the step, and it has failed. Files that come after this one must know.
    if (carrier_->is_lost()) {
      ++step_;
      puts_.end_step();
    }
    throw;
  }
  const std::int64_t ended = step_++;
  trace::describe_span(link_.counters().timeline(), {.file = name_, .step = ended});
  puts_.end_step();
  link_.counters().add(trace::Counter::steps, 1);
  const PutSums sums = sums_ ? std::exchange(*sums_, {}) : PutSums{};
  hold_back(ended);
  carry([&] {
    const StepEnd end = step_end(sums);
    carrier_->end_step(ended, end);
  });
  if (guard_) {
    consult_guard(ended);
  }
}

// It looks at other files, and the carrier may be lost in there: no call of the carrier begins
// before this.
StepEnd File::step_end(PutSums sums) const {
  return {std::move(sums), predecessors_ ? predecessors_() : steps::Predecessors{}};
}

// Until one writer could have written all of the step, no wait is too long.
void File::hold_back(std::int64_t step) {
  if (seconds_per_byte_ <= 0) {
    return;
  }
  double bytes = 0;
  for (const auto& variable : catalogue_.all_variables(step)) {
    bytes += static_cast<double>(array::elements(variable.shape)) *
             static_cast<double>(array::size_bytes(variable.type));
  }
  link_.waiting().hold_back(bytes * seconds_per_byte_);
}

void File::consult_guard(std::int64_t ended) {
  // Copies that the program waits for are no computing.
  guard_->step_ended(now_seconds(),
                     thread_cpu_seconds() - link_.counters()[trace::Counter::late_copy_seconds]);
  if (const auto story = guard_->take_story()) {
    link_.journal().note("file \"" + name_ + "\": " + *story);
  }
  if (!guard_->wants_to_wait()) {
    return;
  }
  // This is asked at every notice. So each block is looked at until it is written, and not again.
  std::vector<std::uint64_t> left;
  link_.tickets().for_each([&](std::uint64_t number, const Ticket& ticket) {
    if (ticket.file == key_ && ticket.step == ended) {
      left.push_back(number);
    }
  });
  const auto is_written = [&] {
    while (!left.empty()) {
      const Ticket* ticket = link_.tickets().find(left.back());
      const bool is_of_this_rank = ticket != nullptr && !ticket->joined;
      if (is_of_this_rank && ticket->failure.ok() && ticket->written < ticket->pieces) {
        return false;
      }
      left.pop_back();
    }
    return true;
  };
  carry([&] {
    link_.wait_until(is_written, [&] {
      return "the blocks of step " + std::to_string(ended) + " of file \"" + name_ +
             "\" to be written";
    });
  });
}

void File::wait_step(std::int64_t number) {
  const auto step = catalogue_.step_of(number, step_ - 1);
  if (!step) {
    const std::string ended =
        step_ == 0 ? "no step" : "steps up to " + std::to_string(catalogue_.number(step_ - 1));
    throw Error{ErrorCode::invalid_argument, "step " + std::to_string(number) + " of file \"" +
                                                 name_ +
                                                 "\" cannot be waited for: it was not ended by "
                                                 "this rank, which has ended " +
                                                 ended};
  }
  trace::describe_span(link_.counters().timeline(), {.file = name_, .step = *step});
  carry([&] { carrier_->wait_step(*step); });
}

// A carrier that follows another one begins its close anew.
void File::close_carrier() {
  if (closing_ != Closing::begun) {
    const StepEnd end = puts_.are_kept() ? step_end(sums_.value_or(PutSums{}))
                                         : StepEnd{.is_unfinished = puts_.is_dropped()};
    carrier_->begin_close(step_, end);
    closing_ = Closing::begun;
  }
}

void File::begin_close() {
  if (closing_ == Closing::no) {
    closing_ = Closing::asked;
    if (puts_.are_kept()) {
      put_time();
      link_.counters().add(trace::Counter::steps, 1);
      hold_back(step_);
    }
  }
  carry([&] { close_carrier(); });
}

bool File::is_closed() {
  bool closed = false;
  carry([&] {
    close_carrier();
    closed = carrier_->is_closed();
  });
  return closed;
}

void File::close() {
  trace::describe_span(link_.counters().timeline(), {.file = name_});
  begin_close();
  Outcome closed;
  carry([&] {
    close_carrier();
    closed = carrier_->close();
  });
  if (!closed.ok()) {
    link_.failures().add(key_, FailureBook::no_step, closed);
  }
  if (puts_.is_dropped()) {  // the program knows that
    link_.failures().told(key_, steps::unfinished(name_, current_step()).story);
  }
  // A ticket that is not settled now never will be. A later wait must say so instead of waiting.
  link_.tickets().for_each([&](std::uint64_t, Ticket& ticket) {
    if (ticket.file == key_ && ticket.failure.ok() && !ticket.settled()) {
      ticket.fail(closed.ok() ? Outcome{ErrorCode::storage_failure,
                                        "file \"" + name_ + "\" is closed, and the step " +
                                            std::to_string(ticket.step) +
                                            " of this block was not committed"}
                              : closed);
    }
  });
}

}  // namespace iocomp::client
