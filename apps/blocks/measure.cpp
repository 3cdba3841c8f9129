// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/measure.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "blocks/iocomp_file.h"
#include "blocks/part.h"
#include "blocks/paths.h"
#include "blocks/phase.h"
#include "blocks/reading.h"
#include "common/put_array.h"
#include "common/ranks.h"
#include "common/stopwatch.h"

namespace iocomp::apps::blocks {
namespace {

double sum_over(MPI_Comm comm, double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

Sample slowest(MPI_Comm comm, const Sample& own) {
  return {.seconds = max_over(comm, own.seconds),
          .open_seconds = max_over(comm, own.open_seconds),
          .put_seconds = max_over(comm, own.put_seconds),
          .wait_seconds = max_over(comm, own.wait_seconds),
          .finish_seconds = max_over(comm, own.finish_seconds),
          .compute_seconds = max_over(comm, own.compute_seconds),
          .cpu_seconds = sum_over(comm, own.cpu_seconds),
          .read_seconds = 0};
}

constexpr int steps_to_calibrate = 4;

class Run {
 public:
  Run(const Options& options, const Session* session, MPI_Comm comm, const Case& what)
      : options_{options},
        session_{session},
        comm_{comm},
        what_{what},
        part_{options.layout, options.node_size, comm, what.block},
        phase_{comm, options.phase, options.phase_waits},
        steps_{options.steps},
        arrays_{array(), array()} {}

  std::vector<Series> all(const std::vector<Way>& ways) {
    std::vector<Series> series;
    for (const Way& way : ways) series.push_back({way, false, {}, 0});
    if (options_.phase > 0) calibrate(series);
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      for (std::size_t i = 0; i < series.size(); ++i) {
        one(series[(i + static_cast<std::size_t>(repetition)) % series.size()], repetition);
      }
      follow(series);
    }
    return series;
  }

 private:
  [[nodiscard]] PutArray array() const {
    return options_.alloc && session_ != nullptr ? PutArray{session_, elements()}
                                                 : PutArray{PutArray::Ordinary{}, elements()};
  }
  [[nodiscard]] std::size_t elements() const {
    return static_cast<std::size_t>(what_.block.own.elements());
  }
  /// The values of a step. Buffers take turns.
  [[nodiscard]] Pattern pattern(int repetition, int step) const {
    return {repetition * static_cast<int>(slots) + step % static_cast<int>(slots),
            options_.noise_bits};
  }

  void calibrate(std::vector<Series>& series) {
    const auto is_synchronous = [](const Series& each) { return each.way.mode == "sync"; };
    if (std::ranges::none_of(series, is_synchronous)) {
      throw std::runtime_error(
          "--phase needs a synchronous way to compare with, such as --backend posix:sync");
    }
    steps_ = std::min(options_.steps, steps_to_calibrate);
    for (Series& each : series) one(each, 0);  // the others too: servers touch new memory
    follow(series);
    steps_ = options_.steps;
    for (Series& each : series) {
      each.samples.clear();
      each.checked = 0;
    }
  }

  void follow(const std::vector<Series>& series) {
    double fastest = std::numeric_limits<double>::infinity();
    for (const Series& each : series) {
      if (each.way.mode != "sync" || each.is_missing) continue;
      const Sample& last = each.samples.back();
      fastest = std::min(fastest, (last.seconds - last.compute_seconds) / steps_);
    }
    if (fastest < std::numeric_limits<double>::infinity()) {
      phase_.follow(std::max(fastest, 0.0));
    }
  }

  void one(Series& series, int repetition) {
    if (series.is_missing) return;
    Target target = target_of(series.way);
    clean(target);
    for (int step = 0; step < static_cast<int>(slots); ++step) {
      fill(what_.block.shape, what_.block.own, pattern(repetition, step), array(step).values());
    }
    MPI_Barrier(comm_);
    Sample sample;
    if (!write(series, target, sample)) return;
    const bool is_last = repetition + 1 == options_.repetitions;
    if (series.way.baseline == nullptr || series.way.baseline->open != nullptr) {
      if (options_.read) {
        MPI_Barrier(comm_);
        drop_from_memory(target.path);
        sample.read_seconds =
            timed_read(session_, series.way, part_, target, what_.read_box, comm_);
      }
      const bool is_due =
          options_.check == Check::all || (options_.check == Check::last && is_last);
      if (is_due) {
        const ReadBack back{part_, what_.block,
                            [&](int step) { return pattern(repetition, step); }};
        series.checked += is_as_written(session_, series.way, back, target) ? 1 : 0;
      }
    }
    series.samples.push_back(sample);
    if (!(is_last && options_.keep)) clean(target);
  }

  [[nodiscard]] Target target_of(const Way& way) const {
    return {.path = path_of(way, part_.suffix(), options_, session_),
            .comm = part_.comm(),
            .block = part_.block(),
            .steps = steps_,
            .durable = options_.durable,
            .hints = options_.mpi_hints()};
  }

  /// Nothing of other files is left, nor on its way to the disk.
  void clean(const Target& target) {
    MPI_Barrier(comm_);
    if (rank_in(target.comm) == 0) remove_output(target.path);
    MPI_Barrier(comm_);
    if (rank_in(comm_) == 0) sync();
    MPI_Barrier(comm_);
  }

  PutArray& array(int step) { return arrays_[static_cast<std::size_t>(step) % slots]; }

  [[nodiscard]] std::unique_ptr<BlockFile> create(const Way& way, const Target& target) const {
    if (way.baseline != nullptr) return way.baseline->create(target);
    const std::string name = way.name + part_.suffix();
    if (way.may_be_missing) return IocompFile::create_if_there(*session_, name, target);
    return std::make_unique<IocompFile>(*session_, name, target);
  }

  /// @return whether there is such a way.
  bool write(Series& series, const Target& target, Sample& sample) {
    Stopwatch open, put, wait, finish, compute;
    const double cpu_before = cpu_seconds();
    const double begin = now_seconds();
    std::unique_ptr<BlockFile> file = open.time([&] { return create(series.way, target); });
    series.is_missing = file == nullptr;
    if (series.is_missing) return false;
    for (int step = 0; step < steps_; ++step) {
      const std::size_t slot = static_cast<std::size_t>(step) % slots;
      compute.time([&] { phase_.run(); });
      if (step >= static_cast<int>(slots)) wait.time([&] { file->wait(slot); });
      put.time([&] { file->put(slot, array(step).values()); });
    }
    finish.time([&] { file->finish(); });
    sample = slowest(comm_, {.seconds = now_seconds() - begin,
                             .open_seconds = open.seconds(),
                             .put_seconds = put.seconds(),
                             .wait_seconds = wait.seconds(),
                             .finish_seconds = finish.seconds(),
                             .compute_seconds = compute.seconds(),
                             .cpu_seconds = cpu_seconds() - cpu_before});
    file->close();
    MPI_Barrier(comm_);
    return true;
  }

  const Options& options_;
  const Session* session_;
  MPI_Comm comm_;
  const Case& what_;
  Part part_;
  Phase phase_;
  int steps_;  ///< of the files that are being written
  std::array<PutArray, slots> arrays_;
};

}  // namespace

std::vector<Series> measure(const Options& options, const std::vector<Way>& ways,
                            const Session* session, MPI_Comm comm, const Case& what) {
  return Run{options, session, comm, what}.all(ways);
}

}  // namespace iocomp::apps::blocks
