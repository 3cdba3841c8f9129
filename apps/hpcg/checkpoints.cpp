// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/checkpoints.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/ranks.h"

namespace iocomp::apps::hpcg {
namespace {

constexpr std::array vector_names{"x", "r", "p"};
constexpr std::int64_t place_size = 3;    // set, iteration, iterations of a set
constexpr std::int64_t scalars_size = 3;  // rho, norm, norm at the start
constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

std::string in_words(const std::vector<std::int64_t>& shape) {
  return std::to_string(shape[2]) + " x " + std::to_string(shape[1]) + " x " +
         std::to_string(shape[0]);
}

iocomp_var* define_row(iocomp_file* file, const char* name, iocomp_type type, std::int64_t size) {
  iocomp_var* made = nullptr;
  check(iocomp_define(file, name, type, 1, &size, &made), "iocomp_define");
  return made;
}

void put_row(iocomp_var* variable, std::int64_t size, const void* values) {
  const std::int64_t start = 0;
  check(iocomp_put_buffered(variable, &start, &size, values, nullptr), "iocomp_put_buffered");
}

/// An input that is closed in any case.
class Reader {
 public:
  Reader(iocomp_input* input, std::int64_t step) : input_{input}, step_{step} {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { iocomp_close_input(input_); }

  void read(const char* name, const std::vector<std::int64_t>& start,
            const std::vector<std::int64_t>& count, void* values) const {
    check(iocomp_read(input_, name, step_, start.data(), count.data(), values), "iocomp_read");
  }
  [[nodiscard]] std::vector<std::int64_t> shape(const char* name, std::size_t dimensions) const {
    std::vector<std::int64_t> found(dimensions);
    check(iocomp_input_shape(input_, name, step_, found.data()), "iocomp_input_shape");
    return found;
  }

 private:
  iocomp_input* input_;
  std::int64_t step_;
};

void refuse_another_problem(const Reader& reader, const Part& part) {
  const auto found = reader.shape("x", part.shape.size());
  if (found != part.shape) {
    throw std::runtime_error("the checkpoint has " + in_words(found) + " points, this run " +
                             in_words(part.shape) +
                             ": choose --local and --grid such that they "
                             "have as many together");
  }
}

Position read_position(const Reader& reader, int iterations) {
  std::vector<std::int64_t> place(place_size);
  reader.read("place", {0}, {place_size}, place.data());
  if (place[2] != iterations) {
    throw std::runtime_error("the checkpoint has sets of " + std::to_string(place[2]) +
                             " iterations, --iterations says " + std::to_string(iterations));
  }
  std::vector<double> scalars(scalars_size);
  reader.read("scalars", {0}, {scalars_size}, scalars.data());
  Position position{place[0],
                    {static_cast<int>(place[1]), scalars[0], scalars[1], scalars[2]},
                    std::vector<double>(static_cast<std::size_t>(iterations))};
  reader.read("residuals", {0}, {iterations}, position.residuals.data());
  position.residuals.resize(static_cast<std::size_t>(place[1]));
  return position;
}

}  // namespace

Checkpoints::Checkpoints(const Session& session, const Grid& grid, int iterations,
                         std::int64_t after, IoTimers& timers)
    : part_{part_of(grid)},
      iterations_{iterations},
      is_first_{rank_in(session.comm()) == 0},
      timers_{timers} {
  timers_.open.time([&] {
    check(iocomp_open_after(session.handle(), "restart", IOCOMP_CHECKPOINT, after, &file_),
          "iocomp_open_after");
    for (std::size_t i = 0; i < arrays; ++i) {
      check(iocomp_define(file_, vector_names[i], IOCOMP_FLOAT64,
                          static_cast<int>(part_.shape.size()), part_.shape.data(), &vectors_[i]),
            "iocomp_define");
    }
    place_ = define_row(file_, "place", IOCOMP_INT64, place_size);
    scalars_ = define_row(file_, "scalars", IOCOMP_FLOAT64, scalars_size);
    residuals_ = define_row(file_, "residuals", IOCOMP_FLOAT64, iterations_);
  });
}

void Checkpoints::write(const Position& position, std::span<const double> x,
                        std::span<const double> r, std::span<const double> p) {
  const Cg::Scalars& scalars = position.scalars;
  const std::array from{x.data(), r.data(), p.data()};
  timers_.send.time([&] {
    check(iocomp_begin_step(file_, position.set * iterations_ + scalars.iteration, no_time),
          "iocomp_begin_step");
    for (std::size_t i = 0; i < arrays; ++i) {
      check(iocomp_put(vectors_[i], part_.start.data(), part_.count.data(), from[i], &tickets_[i]),
            "iocomp_put");
    }
    if (is_first_) {
      const std::array<std::int64_t, place_size> place{position.set, scalars.iteration,
                                                       iterations_};
      const std::array<double, scalars_size> numbers{scalars.rho, scalars.norm, scalars.norm_zero};
      std::vector<double> residuals = position.residuals;
      residuals.resize(static_cast<std::size_t>(iterations_));
      put_row(place_, place_size, place.data());
      put_row(scalars_, scalars_size, numbers.data());
      put_row(residuals_, iterations_, residuals.data());
    }
    check(iocomp_end_step(file_), "iocomp_end_step");
  });
  is_open_ = true;
  ++written_;
}

void Checkpoints::take_back() {
  if (!is_open_) return;
  timers_.wait.time([&] {
    for (const iocomp_ticket& ticket : tickets_) {
      check(iocomp_wait(&ticket, IOCOMP_HANDED_OVER), "iocomp_wait");
    }
  });
  is_open_ = false;
}

void Checkpoints::close() {
  timers_.close.time([&] { check(iocomp_close(file_), "iocomp_close"); });
  file_ = nullptr;
}

std::optional<Checkpoints::Restart> Checkpoints::restore(const Session& session, const Grid& grid,
                                                         int iterations, std::span<double> x,
                                                         std::span<double> r, std::span<double> p) {
  std::int64_t step = -1;
  iocomp_input* input = nullptr;
  check(iocomp_latest(session.handle(), "restart", &step, nullptr, &input), "iocomp_latest");
  if (input == nullptr) return std::nullopt;
  const Reader reader{input, step};
  const Part part = part_of(grid);
  refuse_another_problem(reader, part);
  Position position = read_position(reader, iterations);
  const std::array to{x.data(), r.data(), p.data()};
  for (std::size_t i = 0; i < arrays; ++i) {
    reader.read(vector_names[i], part.start, part.count, to[i]);
  }
  return Restart{step, std::move(position)};
}

}  // namespace iocomp::apps::hpcg
