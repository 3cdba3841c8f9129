// SPDX-License-Identifier: BSD-3-Clause
#include "workload.h"

#include <algorithm>
#include <array>
#include <functional>
#include <ranges>
#include <string>
#include <utility>

#include "array/box.h"
#include "array/decomposition.h"
#include "array/element_type.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "excuses.h"

namespace simulation {
namespace {

using iocomp::client::State;

constexpr std::byte poison{0xEE};

// The elements of a block in the reverse of their order, and the bytes in that order.
iocomp::array::Decomposition reversed(const std::vector<std::int64_t>& shape, const Put& put,
                                      std::vector<std::byte>& bytes, std::size_t size) {
  std::vector<std::int64_t> map;
  std::vector<std::int64_t> index = put.start;
  const std::size_t elements = bytes.size() / size;
  while (map.size() < elements) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      place = place * shape[d] + index[d];
    }
    map.push_back(place);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < put.start[d] + put.count[d]) {
        break;
      }
      index[d] = put.start[d];
    }
  }
  std::ranges::reverse(map);
  std::vector<std::byte> values(bytes.size());
  for (std::size_t i = 0; i < elements; ++i) {
    std::copy_n(bytes.end() - static_cast<std::ptrdiff_t>((i + 1) * size), size,
                values.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
  bytes = std::move(values);
  return iocomp::array::decompose(
      iocomp::array::make_shape(static_cast<int>(shape.size()), shape.data()), map);
}

// The first element of a put, in the packed order of its variable.
std::size_t place_of(const Put& put, const std::vector<std::int64_t>& shape) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    place = place * shape[d] + put.start[d];
  }
  return static_cast<std::size_t>(place);
}

// Rows of a block with an element before and behind each.
std::vector<std::byte> padded(const std::vector<std::byte>& values, std::size_t row,
                              std::size_t size) {
  const std::size_t rows = values.size() / row;
  std::vector<std::byte> all(rows * (row + 2 * size), poison);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * row), row,
                all.begin() + static_cast<std::ptrdiff_t>(i * (row + 2 * size) + size));
  }
  return all;
}

}  // namespace

struct Workload::Buffer {
  std::vector<std::byte> own{};
  std::span<std::byte> bytes{};  // of these, or of the library's
  std::uint64_t ticket = 0;
  std::size_t file = 0;
  PutName name{};
  int* end = nullptr;  // what its ticket comes to
  bool is_polled = false;
};

Workload::Workload(const Plan& plan, int rank, const std::vector<MPI_Comm>& members, Oracle& oracle,
                   World& world)
    : plan_{plan}, rank_{rank}, members_{members}, oracle_{oracle}, world_{world} {}

Workload::~Workload() = default;

bool Workload::makes(Mistake mistake, const PlannedFile& file) const {
  return file.mistake == mistake && file.mistaken_rank == rank_;
}

std::int64_t Workload::count_steps(const PlannedFile& file) const {
  return std::ssize(file.steps) - (makes(Mistake::step_less, file) ? 1 : 0);
}

bool Workload::has_step(const OpenFile& open, std::int64_t step) const {
  return open.file != nullptr && step >= open.first_step &&
         step < count_steps(plan_.files[open.number]);
}

void Workload::run(iocomp::client::Client& client) {
  client_ = &client;
  std::vector<OpenFile> files;
  std::int64_t most_steps = 0;
  for (std::size_t number = 0; number < plan_.files.size(); ++number) {
    if (is_member(plan_.files[number], rank_)) {
      files.push_back({.number = number});
      most_steps = std::max(most_steps, count_steps(plan_.files[number]));
    }
  }
  const auto make_step_of = [this](OpenFile& file, std::int64_t step) {
    if (has_step(file, step)) {
      make_step(file, step);
    }
  };
  if (plan_.are_files_in_turn) {
    std::ranges::for_each(files, [this](OpenFile& file) { open(file); });
    for (std::int64_t step = 0; step < most_steps; ++step) {
      std::ranges::for_each(files, [&](OpenFile& file) { make_step_of(file, step); });
    }
    std::ranges::for_each(files, [this](OpenFile& file) { begin_closing(file); });
  } else {
    for (OpenFile& file : files) {
      open(file);
      for (std::int64_t step = 0; step < most_steps; ++step) {
        make_step_of(file, step);
      }
      begin_closing(file);
    }
  }
  for (OpenFile& file : files) {
    if (file.closing) {
      close(file, [&] { client_->wait(*file.closing, State::durable); });
    }
  }
}

// Calls that mean nothing are told at once, and change nothing.
void Workload::check_refusals(iocomp::client::File& file) {
  constexpr std::uint64_t nobodys_ticket = std::uint64_t{1} << 40;
  const auto check = [&](const std::string& call, const auto& body) {
    if (iocomp::outcome_of(body).code != iocomp::ErrorCode::invalid_argument) {
      oracle_.broken("rank " + std::to_string(rank_) + ": " + call + " is not refused");
    }
  };
  check("a test of a ticket that nobody has",
        [&] { (void)client_->test(nobodys_ticket, State::written); });
  check("a file that comes after itself", [&] { client_->come_after(&file, file.name()); });
}

void Workload::open(OpenFile& open) {
  const PlannedFile& planned = plan_.files[open.number];
  oracle_.say(rank_, "opens " + planned.name);
  const int code = oracle_.attempt(rank_, open.number, "open of " + planned.name, [&] {
    open.file = client_->open(members_[open.number], planned.name,
                              planned.is_checkpoint ? "checkpoint" : "series",
                              oracle_.told()[open.number].before.after);
    open.first_step = open.file->current_step();
    oracle_.opened(rank_, open.number, open.first_step);
    check_refusals(*open.file);
    if (planned.defines_time) {
      open.file->define({.name = iocomp::contents::time_variable});
    }
    for (std::size_t i = 0; i < planned.variables.size(); ++i) {
      define(open, i);
    }
    if (planned.has_attributes) {
      set_attributes(open, 0);
    }
  });
  if (code != 0) {
    open.file = nullptr;  // finalize closes it, if it is open
  }
}

void Workload::set_attributes(OpenFile& open, int version) {
  const auto value = attribute_of(plan_.files[open.number], version);
  oracle_.set_attributes(open.number, version);
  open.file->set_attribute(-1, attribute_name, value);
  open.file->set_attribute(open.variables.front(), attribute_name, value);
}

void Workload::define(OpenFile& open, std::size_t number) {
  const PlannedFile& planned = plan_.files[open.number];
  const Variable& variable = planned.variables[number];
  const auto first = std::min(static_cast<std::size_t>(open.first_step), planned.steps.size() - 1);
  auto shape = planned.steps[first].variables[number].shape;
  if (number == 0 && makes(Mistake::other_shape, planned)) {
    ++shape.front();
  }
  open.variables.push_back(open.file->define({.name = variable.name,
                                              .type = variable.type,
                                              .dimensions = static_cast<int>(shape.size()),
                                              .shape = shape.data()}));
  open.shapes.push_back(shape);
  if (variable.fill != 0) {
    const std::array<std::uint64_t, 2> value{
        0x0101010101010101U * static_cast<unsigned>(variable.fill),
        0x0101010101010101U * static_cast<unsigned>(variable.fill)};
    open.file->set_fill(open.variables.back(), value.data());
  }
}

void Workload::set_shapes(OpenFile& open, const Step& step) {
  for (std::size_t v = 0; v < step.variables.size(); ++v) {
    const auto& shape = step.variables[v].shape;
    if (shape != open.shapes[v]) {
      (void)oracle_.attempt(rank_, open.number, "set_shape",
                            [&] { open.file->set_shape(open.variables[v], shape.data()); });
      open.shapes[v] = shape;
    }
  }
}

// Each member has said beforehand where its rows are: the library has to find the same place.
void Workload::set_rows(OpenFile& open, const Step& step) {
  std::vector<std::int64_t> rows;
  for (std::size_t v = 0; v < step.variables.size(); ++v) {
    const auto& part = step.variables[v];
    if (!std::ranges::equal(open.shapes[v] | std::views::drop(1),
                            part.shape | std::views::drop(1))) {
      set_shapes(open, step);  // rows alone may change by what follows
    }
    const auto own = std::ranges::find(part.puts, rank_, &Put::rank);
    rows.push_back(own == part.puts.end() ? 0 : own->count.front());
  }
  iocomp::client::Rows found;
  const int code = oracle_.attempt(rank_, open.number, "set_rows", [&] {
    found = client_->set_rows(open.file, open.variables, rows);
  });
  for (std::size_t v = 0; v < step.variables.size() && code == 0; ++v) {
    const auto& part = step.variables[v];
    const auto own = std::ranges::find(part.puts, rank_, &Put::rank);
    const std::string whose = "rank " + std::to_string(rank_) + ": its rows of " +
                              plan_.files[open.number].variables[v].name;
    if (own != part.puts.end() && found.first[v] != own->start.front()) {
      oracle_.broken(whose + " begin at " + std::to_string(found.first[v]) + ", not at " +
                     std::to_string(own->start.front()));
    }
    if (found.total[v] != part.shape.front()) {
      oracle_.broken(whose + " are among " + std::to_string(found.total[v]) + ", not " +
                     std::to_string(part.shape.front()));
    }
    open.shapes[v] = part.shape;
  }
}

void Workload::make_step(OpenFile& open, std::int64_t number) {
  const PlannedFile& planned = plan_.files[open.number];
  const Step& step = planned.steps[static_cast<std::size_t>(number)];
  if (step.is_skipped) {
    return;
  }
  const bool is_behind_gap =
      number > 0 && planned.steps[static_cast<std::size_t>(number) - 1].is_skipped;
  if (planned.has_times || is_behind_gap) {
    const double time = planned.has_times ? time_of(number) : iocomp::contents::unknown_time;
    (void)oracle_.attempt(rank_, open.number, "begin of a step",
                          [&] { open.file->begin_step(number, time); });
  }
  planned.has_rows ? set_rows(open, step) : set_shapes(open, step);
  for (std::size_t v = 0; v < step.variables.size(); ++v) {
    for (std::size_t p = 0; p < step.variables[v].puts.size(); ++p) {
      const Put& one = step.variables[v].puts[p];
      if (one.rank == rank_) {
        put(open, {number, v, p}, one, step.variables[v].shape);
      }
    }
  }
  end_step(open, number);
  if (step.sets_attributes) {
    (void)oracle_.attempt(rank_, open.number, "set_attribute",
                          [&] { set_attributes(open, static_cast<int>(number) + 1); });
  }
  if (step.asks_tickets) {
    ask_tickets(open, false);
  }
  if (step.computes > 0) {
    world_.spend(step.computes * microsecond);
  }
}

void Workload::end_step(OpenFile& open, std::int64_t number) {
  const PlannedFile& planned = plan_.files[open.number];
  const Step& step = planned.steps[static_cast<std::size_t>(number)];
  oracle_.end_step(rank_, open.number, number, [&] { open.file->end_step(); });
  for (const auto& [buffer, state] : std::exchange(waits_, {})) {
    wait(open, *buffer, state);
  }
  if (const auto wanted = step.waits_for[static_cast<std::size_t>(rank_)]) {
    std::int64_t waited = std::max(*wanted, open.first_step);
    while (planned.steps[static_cast<std::size_t>(waited)].is_skipped) {
      ++waited;
    }
    oracle_.wait_step(rank_, open.number, waited, [&] { open.file->wait_step(waited); });
  }
}

std::unique_ptr<Workload::Buffer> Workload::buffer_for(const OpenFile& open, const PutName& name,
                                                       const Put& put,
                                                       std::span<const std::byte> values,
                                                       std::size_t offset) {
  auto buffer = std::make_unique<Buffer>();
  buffer->file = open.number;
  buffer->name = name;
  buffer->is_polled = put.is_polled;
  buffer->end = &oracle_.end_of_put(rank_, open.number, name);
  constexpr std::size_t page = 4096;
  const std::size_t skew = put.is_aligned ? offset % page : sizeof(double);
  if (put.is_allocated) {
    auto* const memory =
        static_cast<std::byte*>(client_->array_memory().allocate(values.size() + skew));
    buffer->bytes = {memory + skew, values.size()};
  } else {
    // The same place in a page whatever was allocated before.
    buffer->own.resize(values.size() + skew + page);
    const auto past = reinterpret_cast<std::uintptr_t>(buffer->own.data()) % page;
    buffer->bytes = std::span{buffer->own}.subspan(page - past + skew, values.size());
  }
  std::ranges::copy(values, buffer->bytes.begin());
  return buffer;
}

void Workload::put(OpenFile& open, const PutName& name, const Put& put,
                   const std::vector<std::int64_t>& shape) {
  const PlannedFile& planned = plan_.files[open.number];
  const auto [step, v, p] = name;
  const std::size_t size = iocomp::array::size_bytes(planned.variables[v].type);
  iocomp::client::PutArguments arguments;
  arguments.start = put.start.data();
  arguments.count = put.count.data();
  arguments.buffered = put.is_buffered;
  auto memory_shape = put.count;
  auto memory_start = std::vector<std::int64_t>(put.count.size(), 0);
  std::vector<std::byte> values = values_of(planned, v, step, put.start, put.count);
  if (put.is_strided) {  // the last dimension is longer in memory, and begins at 1
    values = padded(values, static_cast<std::size_t>(put.count.back()) * size, size);
    memory_shape.back() += 2;
    memory_start.back() = 1;
    arguments.memory_shape = memory_shape.data();
    arguments.memory_start = memory_start.data();
  }
  iocomp::array::Decomposition scattered;
  if (put.is_scattered) {
    scattered = reversed(shape, put, values, size);
    arguments.start = arguments.count = nullptr;
    arguments.decomposition = &scattered;
  }
  auto buffer = buffer_for(open, name, put, values, place_of(put, shape) * size);
  arguments.values = buffer->bytes.data();
  const int variable = open.variables[v];
  *buffer->end = oracle_.attempt(rank_, open.number, "put of " + planned.variables[v].name,
                                 [&] { buffer->ticket = open.file->put(variable, arguments); });
  if (*buffer->end != 0) {
    oracle_.refused(open.number, name);
    return;
  }
  if (makes(Mistake::overlap, planned)) {
    arguments.buffered = true;
    (void)oracle_.attempt(rank_, open.number, "another put of " + planned.variables[v].name,
                          [&] { (void)open.file->put(variable, arguments); });
  }
  if (put.is_scattered) {
    client_->forget(scattered);
  }
  if (put.is_buffered) {
    std::ranges::fill(buffer->bytes, poison);  // the library has a copy
  }
  buffers_.push_back(std::move(buffer));
  world_.spend(2 * microsecond);
  const bool needs_no_end = plan_.mode == Mode::kernel && !planned.is_synchronous &&
                            !planned.is_compressed && !has_mistake(planned);
  if (put.await == Await::handed_over || (put.is_polled && needs_no_end)) {
    wait(open, *buffers_.back(), put.await);
  } else if (put.await != Await::nothing) {
    waits_.emplace_back(buffers_.back().get(), put.await);
  }
}

void Workload::wait(const OpenFile& open, Buffer& buffer, Await state) {
  if (state == Await::nothing) {
    return;
  }
  const int code = oracle_.attempt(rank_, open.number, "wait", [&] {
    constexpr int patience = 30;
    for (int i = 0; buffer.is_polled && i < patience; ++i) {
      if (client_->test(buffer.ticket, static_cast<State>(state))) {
        return;
      }
      client_->progress();
      world_.spend(20 * microsecond);
    }
    try {
      client_->wait(buffer.ticket, static_cast<State>(state));
    } catch (const iocomp::Error& error) {
      const bool is_with_step =
          state == Await::durable && is_durable_with_step(plan_, plan_.files[open.number], error);
      if (!is_with_step) {
        throw;
      }
      state = Await::written;
    }
  });
  if (code == 0) {
    std::ranges::fill(buffer.bytes, poison);
    if (state == Await::durable) {
      oracle_.is_durable(open.number, buffer.name);
    }
  }
}

void Workload::begin_closing(OpenFile& open) {
  const PlannedFile& planned = plan_.files[open.number];
  if (open.file != nullptr) {
    before_closing_(open.number);
    oracle_.lets_go(open.number);
  }
  if (open.file == nullptr || planned.leaves_close_to_finalize) {
    return;
  }
  if (!planned.closes_later) {
    close(open, [&] { client_->close(open.file); });
    return;
  }
  (void)oracle_.attempt(rank_, open.number, "close_later of " + planned.name,
                        [&] { open.closing = client_->close_later(open.file); });
  oracle_.say(rank_, "closes " + planned.name + " later");
}

void Workload::close(OpenFile& open, const std::function<void()>& wait) {
  (void)oracle_.close(rank_, open.number, count_steps(plan_.files[open.number]), wait);
  ask_tickets(open, true);
}

// Close settles every ticket of the file.
void Workload::ask_tickets(const OpenFile& open, bool is_closed) {
  for (const auto& buffer : buffers_) {
    if (buffer->file != open.number) {
      continue;
    }
    bool is_durable = false;
    const auto ask = [&] { is_durable = client_->test(buffer->ticket, State::durable); };
    if (!is_closed) {
      (void)oracle_.attempt(rank_, open.number, "test of a ticket", ask);
    } else {
      const auto asked = iocomp::outcome_of(ask);
      *buffer->end = static_cast<int>(asked.code);
      if (!asked.ok()) {
        oracle_.say(rank_, "has a ticket that failed: " + asked.story);
      } else if (!is_durable) {
        oracle_.broken("rank " + std::to_string(rank_) + ": a ticket of " +
                       plan_.files[open.number].name + " is not settled after close");
      }
    }
    if (is_durable) {
      oracle_.is_durable(open.number, buffer->name);
    }
  }
}

}  // namespace simulation
