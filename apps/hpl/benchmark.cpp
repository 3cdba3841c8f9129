// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/benchmark.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <string>

#include "common/mistake.h"
#include "common/ranks.h"
#include "common/restart.h"
#include "hpl/residual.h"

namespace iocomp::apps::hpl {
namespace {

constexpr std::int64_t place_size = 3;  // repetitions done, rows of the matrix, seed

std::function<void()> progress_of(const Options& options, const Session* session) {
  if (!options.progress || session == nullptr) return {};
  return [session] { check(iocomp_progress(session->handle()), "iocomp_progress"); };
}

double right(double residual, const std::string& what) {
  if (residual < residual_threshold) return residual;
  std::ostringstream text;
  text << what << " has the scaled residual " << residual << ", allowed is less than "
       << residual_threshold;
  throw std::runtime_error(text.str());
}

}  // namespace

Benchmark::Benchmark(const Options& options, const Session* session, MPI_Comm comm,
                     const ProcessGrid& grid)
    : options_{options},
      session_{session},
      comm_{comm},
      layout_{grid.layout(options.size, options.block)},
      lu_{grid, layout_, progress_of(options, session)} {
  const Session* const memory = options.alloc ? session : nullptr;
  const auto rows = static_cast<std::size_t>(std::max<std::int64_t>(1, layout_.rows.count()));
  for (int i = 0; i < options.matrices(); ++i) matrices_.emplace_back(memory, layout_.elements());
  for (std::size_t i = 0; i < 2; ++i) {
    systems_.emplace_back(matrices_[i % matrices_.size()], memory, rows);
  }
}

Measurement Benchmark::run() {
  MPI_Barrier(comm_);
  const double begin = now_seconds();
  if (session_ != nullptr) open_files();
  MPI_Barrier(comm_);
  const double begin_of_loop = now_seconds();
  const double cpu_before = cpu_seconds();
  const std::int64_t first = std::max<std::int64_t>(0, measurement_.restarted.repetitions);
  for (std::int64_t one = first; one < options_.repetitions && !measurement_.is_stopped; ++one) {
    const double begin_of_one = now_seconds();
    solve(one);
    put(one);
    measurement_.residuals.push_back(
        measurement_.kernels.check.time([&] { return check(one, system_of(one)); }));
    write_checkpoint(one);
    measurement_.loop_seconds_of_each.push_back(now_seconds() - begin_of_one);
  }
  take_back();
  measurement_.loop_seconds = now_seconds() - begin_of_loop;
  measurement_.cpu_seconds = cpu_seconds() - cpu_before;
  measurement_.compute_seconds = measurement_.loop_seconds - measurement_.io.in_loop_seconds();
  close_files();
  measurement_.until_durable = now_seconds() - begin;
  return measurement_;
}

void Benchmark::open_files() {
  matrix_part_ = std::make_unique<RunsPart>(*session_, Indices{options_.size, options_.size},
                                            runs_of(layout_));
  vector_part_ = std::make_unique<RunsPart>(*session_, Indices{options_.size},
                                            runs_of(vector_layout(layout_)));
  if (options_.restart) measurement_.io.open.time([&] { restore(); });
  const std::int64_t done = measurement_.restarted.repetitions;
  if (options_.checkpoint_every > 0) {
    checkpoints_.emplace(
        *session_, checkpoint_name, IOCOMP_CHECKPOINT, done,
        Content{{{"factors", matrix_part_.get()}, {"solution", vector_part_.get()}},
                {{"pivots", IOCOMP_INT64, options_.size},
                 {"place", IOCOMP_INT64, place_size},
                 {"residual", IOCOMP_FLOAT64, 1}}},
        false, measurement_.io);
  }
  Content content;
  if (options_.put == Put::solution) content.arrays = {{"solution", vector_part_.get()}};
  if (options_.put == Put::factors) {
    content = {{{"factors", matrix_part_.get()}}, {{"pivots", IOCOMP_INT64, options_.size}}};
  }
  if (content.arrays.empty()) return;
  output_.emplace(*session_, "hpl", IOCOMP_SERIES, std::max<std::int64_t>(done, 0) - 1,
                  std::move(content), options_.verify, measurement_.io);
}

void Benchmark::restore() {
  const auto found = Restart::newest(*session_);
  if (!found) return;
  const auto place = found->row<std::int64_t>("place");
  if (place[1] != options_.size || place[2] != static_cast<std::int64_t>(options_.seed)) {
    throw Mistake("the checkpoint is of --size " + std::to_string(place[1]) + " --seed " +
                  std::to_string(place[2]) + ", this run of --size " +
                  std::to_string(options_.size) + " --seed " + std::to_string(options_.seed));
  }
  const std::int64_t last = place[0] - 1;
  System& system = system_of(last);
  found->read("factors", *matrix_part_, system.matrix.values());
  found->read("solution", *vector_part_, system.solution.values());
  lu_.set_pivots(found->row<std::int64_t>("pivots"));
  const double before = found->row<double>("residual")[0];
  Restarted& restarted = measurement_.restarted;
  restarted.repetitions = place[0];
  restarted.residual = check(last, system);
  if (restarted.residual != before) {
    std::ostringstream text;
    text << "the solution of the checkpoint has the scaled residual " << restarted.residual
         << ", and had " << before << " when it was written";
    throw Mistake(text.str());
  }
  generator_of(last).fill_right(layout_, system.solution.data());
  lu_.solve(system.matrix.data(), system.solution.data());
  restarted.solved_residual = check(last, system);
}

void Benchmark::solve(std::int64_t repetition) {
  const Generator generator = generator_of(repetition);
  System& system = system_of(repetition);
  KernelTimers& kernels = measurement_.kernels;
  kernels.generate.time([&] {
    generator.fill(layout_, system.matrix.data());
    generator.fill_right(layout_, system.solution.data());
  });
  MPI_Barrier(comm_);
  const double begin = now_seconds();
  kernels.factor.time([&] { lu_.factor(system.matrix.data()); });
  kernels.solve.time([&] { lu_.solve(system.matrix.data(), system.solution.data()); });
  measurement_.hpl_seconds.push_back(now_seconds() - begin);
}

double Benchmark::check(std::int64_t repetition, System& system) {
  const std::vector<double> x = gathered(comm_, layout_, system.solution.data());
  return right(scaled_residual(comm_, generator_of(repetition), x),
               "the solution of repetition " + std::to_string(repetition));
}

void Benchmark::put(std::int64_t repetition) {
  if (!output_) return;
  System& system = system_of(repetition);
  output_->take_back();
  const PutArray& array = options_.put == Put::factors ? system.matrix : system.solution;
  output_->put(repetition, std::array<const double*, 1>{array.data()},
               std::array<const void*, 1>{lu_.pivots().data()});
}

void Benchmark::write_checkpoint(std::int64_t repetition) {
  const std::int64_t done = repetition + 1;
  int stop = done == options_.stop_after ? 1 : 0;
  if (checkpoints_ && done % options_.checkpoint_every == 0) {
    if (stop == 0) apps::check(iocomp_should_stop(session_->handle(), &stop), "iocomp_should_stop");
    // A job that goes on behind this checkpoint counts on the output before it.
    if (output_) output_->wait_durable(repetition);
    checkpoints_->take_back();
    System& system = system_of(repetition);
    const std::array place{done, options_.size, static_cast<std::int64_t>(options_.seed)};
    checkpoints_->put(done, std::array{system.matrix.data(), system.solution.data()},
                      std::array<const void*, 3>{lu_.pivots().data(), place.data(),
                                                 &measurement_.residuals.back()});
  }
  measurement_.is_stopped = stop != 0 && done < options_.repetitions;
}

void Benchmark::take_back() {
  if (output_) output_->take_back();
  if (checkpoints_) checkpoints_->take_back();
}

void Benchmark::close_files() {
  if (checkpoints_) {
    checkpoints_->close();
    measurement_.checkpoints = checkpoints_->steps();
  }
  if (output_) {
    output_->close();
    measurement_.bytes = output_->bytes();
  }
}

}  // namespace iocomp::apps::hpl
