// SPDX-License-Identifier: BSD-3-Clause
#include "stream/benchmark.h"

#include <algorithm>

namespace iocomp::apps::stream {
namespace {

class Run {
 public:
  Run(const Options& options, Arrays& arrays, const OpenOutput& open)
      : options_{options}, arrays_{arrays}, open_{open} {}

  Measurement run() {
    const double begin = now_seconds();
    output_ = open_();
    for (int loop = 0; loop < options_.loops; ++loop) {
      const bool writes = options_.writes_in(loop);
      options_.in_turn ? run_loop_in_turn(writes) : run_loop(writes);
      arrays_.end_loop();
      if (options_.in_turn && writes) arrays_.turn();
    }
    wait_for_all();
    const double end_of_loops = now_seconds();
    if (output_) output_->close();
    measurement_.until_durable = now_seconds() - begin;
    measurement_.until_last_call = end_of_loops - begin;
    if (output_) {
      measurement_.output = output_->timers();
      if (measurement_.output.last_call > 0) {
        measurement_.until_last_call = measurement_.output.last_call - begin;
      }
    }
    return std::move(measurement_);
  }

 private:
  // A kernel may read an array whose ticket is open, never write it: copy and add write c, scale b,
  // triad a.
  void run_loop(bool writes) {
    run_kernel(copy_c);
    wait(triad_a);  // put in the loop before; copy only read it
    put(copy_c, writes);

    run_kernel(scale_b);
    wait(copy_c);
    put(scale_b, writes);

    run_kernel(add_c);
    wait(scale_b);
    put(add_c, writes);

    run_kernel(triad_a);
    wait(add_c);
    put(triad_a, writes);
    if (writes && output_) output_->end_step();
  }

  // An array that is put is left alone until the next loop that writes: the loops between use the
  // other set.
  void run_loop_in_turn(bool writes) {
    for (const Kernel kernel : {copy_c, scale_b, add_c, triad_a}) run_kernel(kernel);
    if (!writes || !output_) return;
    wait_for_all();
    for (const Kernel kernel : {scale_b, add_c, triad_a}) put(kernel, true);
    output_->end_step();
  }

  void wait_for_all() {
    for (const Kernel kernel : {copy_c, scale_b, add_c, triad_a}) wait(kernel);
  }

  void run_kernel(Kernel kernel) {
    const std::size_t elements = arrays_.size();
    const double begin = now_seconds();
    if (output_) output_->begin_computing();
    if (options_.progress && output_) {
      // Whole blocks go through the vectorised kernel; a call per element would keep it from being
      // that.
      const std::size_t stride = options_.progress_bytes / sizeof(double);
      for (std::size_t at = 0; at < elements; at += stride) {
        arrays_.run(kernel, at, std::min(stride, elements - at));
        output_->progress();
      }
    } else {
      arrays_.run(kernel, 0, elements);
    }
    if (output_) output_->end_computing();
    measurement_.kernels[kernel].push_back(now_seconds() - begin);
  }

  void wait(Kernel kernel) {
    if (output_) output_->wait(kernel);
  }
  void put(Kernel kernel, bool writes) {
    if (writes && output_) output_->put(kernel, arrays_.written_by(kernel));
  }

  const Options& options_;
  Arrays& arrays_;
  const OpenOutput& open_;
  std::unique_ptr<Output> output_;
  Measurement measurement_;
};

}  // namespace

Measurement measure(const Options& options, MPI_Comm comm, Arrays& arrays, const OpenOutput& open) {
  MPI_Barrier(comm);
  return Run{options, arrays, open}.run();
}

}  // namespace iocomp::apps::stream
