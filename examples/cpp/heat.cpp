// SPDX-License-Identifier: BSD-3-Clause
// Heat in a square that is cut into rows, one part with halos on each rank.
//   mpirun -n 4 ./example_heat_cpp 1000
// Started again, on any number of ranks, it goes on behind its newest checkpoint and ends with the
// same values as a run that was not interrupted. It exits with 3 where it was told to stop before.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iocomp/iocomp.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace {

constexpr int n = 64, every = 100;
constexpr int width = n + 2;  // of a row, with a halo at each end

void exchange_halos(MPI_Comm comm, int rank, int ranks, std::vector<double>& u) {
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double* const behind = u.data() + u.size() - width;
  MPI_Sendrecv(u.data() + width, width, MPI_DOUBLE, above, 0, behind, width, MPI_DOUBLE, below, 0,
               comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(behind - width, width, MPI_DOUBLE, below, 1, u.data(), width, MPI_DOUBLE, above, 1,
               comm, MPI_STATUS_IGNORE);
}

/// Compute up to a step. @return the step that comes next.
std::int64_t simulate(iocomp::Session& io, std::int64_t steps) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(io.comm(), &rank);
  MPI_Comm_size(io.comm(), &ranks);
  const std::int64_t first = n * rank / ranks;
  const std::int64_t mine = n * (rank + 1) / ranks - first;
  std::vector<double> u(static_cast<std::size_t>((mine + 2) * width));
  std::vector<double> next(u.size());
  const auto at = [](std::int64_t i, int j) { return static_cast<std::size_t>(i * width + j); };

  auto [step, time, input] = io.latest("restart");  // step: -1 where there is no checkpoint
  if (input.is_open())
    input.read_block("u", step, {first, 0}, {mine, n}, u, {mine + 2, width}, {1, 1});
  else
    for (std::int64_t i = 1; i <= mine; ++i) std::fill_n(&u[at(i, 1)], n / 2, 1.0);  // half is warm
  iocomp::File checkpoints = io.open("restart", IOCOMP_CHECKPOINT, {.after = step});
  iocomp::File middles = io.open("middle", IOCOMP_SERIES, {.after = step});
  checkpoints.after("middle");  // none is ahead of it
  const auto u_var = checkpoints.define<double>("u", {n, n});
  const auto middle_var = middles.define<double>("u", {n});
  std::optional<iocomp::Ticket> ticket;
  for (bool stop = false; step + 1 < steps && !stop;) {
    ++step;
    exchange_halos(io.comm(), rank, ranks, u);
    for (std::int64_t i = 1; i <= mine; ++i)
      for (int j = 1; j <= n; ++j) {
        const double* const here = &u[at(i, j)];
        const double sides = here[-1] + here[1] + here[-width] + here[width];
        next[at(i, j)] = *here + 0.1 * (sides - 4 * *here);
      }
    if (ticket) ticket->wait();  // then u may change
    std::swap(u, next);
    stop = io.should_stop();
    if (stop || (step + 1) % every == 0 || step + 1 == steps) {
      std::vector<double> middle;
      for (std::int64_t i = 1; i <= mine; ++i) middle.push_back(u[at(i, n / 2)]);
      middles.begin_step(step, 0.1 * static_cast<double>(step));
      middle_var.put({first}, {mine}, middle, IOCOMP_BUFFERED);
      middles.end_step();
      checkpoints.begin_step(step, 0.1 * static_cast<double>(step));
      ticket = u_var.put_block({first, 0}, {mine, n}, u, {mine + 2, width}, {1, 1});
      checkpoints.end_step();
    }
  }
  middles.close();
  checkpoints.close();
  if (rank == 0) std::printf("heat: %d steps are done\n", static_cast<int>(step) + 1);
  return step + 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t steps = argc > 1 ? std::atoll(argv[1]) : 1000;
  bool is_done = false;
  MPI_Init(&argc, &argv);
  try {
    iocomp::Session io{MPI_COMM_WORLD, "files.default.existing = 'continue'"};
    is_done = simulate(io, steps) >= steps;
    io.finalize();
  } catch (const iocomp::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.code());
  }
  MPI_Finalize();
  return is_done ? 0 : 3;
}
