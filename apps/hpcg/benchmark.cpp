// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/benchmark.h"

#include <mpi.h>

#include <algorithm>

namespace iocomp::apps::hpcg {

Benchmark::Benchmark(const Options& options, const Session* session, MPI_Comm comm,
                     Multigrid& multigrid)
    : options_{options},
      session_{session},
      comm_{comm},
      multigrid_{multigrid},
      cg_{multigrid, comm},
      b_{multigrid.finest().matrix().right_hand_side()},
      x_{PutArray{options.alloc ? session : nullptr, multigrid.finest().vector_elements()},
         PutArray{options.alloc ? session : nullptr, multigrid.finest().vector_elements()}} {}

Measurement Benchmark::run() {
  MPI_Barrier(comm_);
  const double begin = now_seconds();
  if (session_ != nullptr) open_files();
  MPI_Barrier(comm_);
  const double begin_of_loop = now_seconds();
  while (position_.set < options_.sets && !measurement_.is_stopped) run_set();
  if (checkpoints_) checkpoints_->take_back();
  measurement_.loop_seconds = now_seconds() - begin_of_loop;
  measurement_.compute_seconds = measurement_.loop_seconds - measurement_.io.in_loop_seconds();
  close_files();
  measurement_.until_durable = now_seconds() - begin;
  return measurement_;
}

void Benchmark::open_files() {
  const Grid& grid = multigrid_.grid();
  std::int64_t after = -1;
  std::int64_t last_set = -1;
  if (options_.restart) {
    const auto found = measurement_.io.open.time([&] {
      return Checkpoints::restore(*session_, grid, options_.iterations, x(), cg_.residual(),
                                  cg_.direction());
    });
    if (found) {
      after = measurement_.restarted_at = found->number;
      position_ = found->position;
      last_set = position_.set;
      cg_.resume(position_.scalars, x());
    }
  }
  if (options_.checkpoint_every > 0) {
    checkpoints_.emplace(*session_, grid, options_.iterations, after, measurement_.io);
    before_change_ = [this] { checkpoints_->take_back(); };
  }
  if (options_.put == Put::nothing) return;
  const bool is_matrix = options_.put == Put::matrix;
  part_ = is_matrix ? part_of(comm_, multigrid_.finest().matrix().values().size()) : part_of(grid);
  output_.emplace(*session_, "hpcg", IOCOMP_SERIES, last_set,
                  Content{{{name_of(options_.put), &*part_}}}, options_.verify, measurement_.io);
}

void Benchmark::run_set() {
  if (position_.scalars.iteration == 0) begin_set();
  while (position_.scalars.iteration < options_.iterations) {
    if (!iterate()) break;
  }
  if (output_) output_->take_back();
  measurement_.residuals = position_.residuals;
  measurement_.first_norm = position_.scalars.norm_zero;
  if (position_.scalars.iteration < options_.iterations) return;
  measurement_.final_residuals.push_back(position_.residuals.back());
  ++position_.set;
  position_.scalars.iteration = 0;
}

void Benchmark::begin_set() {
  if (output_) {
    output_->put(position_.set,
                 std::array<const double*, 1>{options_.put == Put::matrix
                                                  ? multigrid_.finest().matrix().values().data()
                                                  : x().data()});
  }
  current_ = 1 - current_;  // what was put stays as it is
  if (before_change_) before_change_();
  std::fill(x().begin(), x().end(), 0.0);
  cg_.start(b_, x());
  ++measurement_.starts;
  position_.residuals.clear();
}

/// @return whether to go on.
bool Benchmark::iterate() {
  cg_.iterate(before_change_);
  ++measurement_.iterations;
  position_.scalars = cg_.scalars();
  position_.residuals.push_back(cg_.relative_residual());
  const std::int64_t done = iterations_in_all();
  int stop = done == options_.stop_after ? 1 : 0;
  if (checkpoints_ && done % options_.checkpoint_every == 0) {
    if (stop == 0) check(iocomp_should_stop(session_->handle(), &stop), "iocomp_should_stop");
    write_checkpoint();
  }
  measurement_.is_stopped =
      stop != 0 && done < static_cast<std::int64_t>(options_.sets) * options_.iterations;
  return !measurement_.is_stopped;
}

void Benchmark::write_checkpoint() {
  // A job that goes on behind this checkpoint counts on the output before it.
  if (output_) output_->wait_durable(position_.set);
  checkpoints_->take_back();
  checkpoints_->write(position_, x(), cg_.residual(), cg_.direction());
}

void Benchmark::close_files() {
  if (checkpoints_) {
    checkpoints_->close();
    measurement_.checkpoints = checkpoints_->written();
  }
  if (output_) {
    output_->close();
    measurement_.bytes = output_->bytes();
  }
}

std::int64_t Benchmark::iterations_in_all() const noexcept {
  return position_.set * options_.iterations + position_.scalars.iteration;
}

}  // namespace iocomp::apps::hpcg
