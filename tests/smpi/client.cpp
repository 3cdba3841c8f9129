// SPDX-License-Identifier: BSD-3-Clause
// A program that writes steps on simulated ranks, and tells as one line of JSON what they cost.
// Everything is measured in simulated seconds; compute takes none.
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "counts.h"

namespace {

void check(int error, const char* what) {
  if (error != 0) {
    std::fprintf(stderr, "%s: %s: %s\n", what, iocomp_code_name(error), iocomp_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
#define CHECK(call) check((call), #call)

/// All ranks are in one process: what one writes here another reads.
std::set<int>& computing() {
  static std::set<int> all;
  return all;
}

struct Options {
  int steps = 4;
  std::int64_t values = 1024;  ///< of each rank
  std::string cut = "rows";    ///< rows, columns, cubes
  std::int64_t rows = 16;      ///< of an array in columns: a block touches up to so many servers
  std::string settings;
};

/// The block that each rank puts of one array.
struct Block {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> count;
};

Block block_of(const Options& options, int rank, int ranks) {
  const std::int64_t rows = options.rows;
  if (options.cut == "columns") {
    const std::int64_t columns = options.values / rows;
    return {{rows, ranks * columns}, {0, rank * columns}, {rows, columns}};
  }
  if (options.cut == "cubes") {
    std::array<int, 3> dims{};
    MPI_Dims_create(ranks, 3, dims.data());
    const auto edge = std::llround(std::cbrt(static_cast<double>(options.values)));
    const std::array<int, 3> at{rank / (dims[1] * dims[2]), rank / dims[2] % dims[1],
                                rank % dims[2]};
    Block block;
    for (std::size_t i = 0; i < 3; ++i) {
      block.shape.push_back(dims[i] * edge);
      block.start.push_back(at[i] * edge);
      block.count.push_back(edge);
    }
    return block;
  }
  return {{ranks * options.values}, {rank * options.values}, {options.values}};
}

/// Asleep.
void meet(MPI_Comm comm) {
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &all);
  for (int done = 0; done == 0;) {
    const timespec nap{0, 5000};
    nanosleep(&nap, nullptr);
    MPI_Test(&all, &done, MPI_STATUS_IGNORE);
  }
}

std::vector<smpi_counts> counts_of_all() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<smpi_counts> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(*smpi_counts_of(rank));
  }
  return all;
}

/// The memory of all ranks together, at most until now.
double process_bytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kib = 0;
      status >> kib;
      return kib * 1024;
    }
  }
  return 0;
}

/// The most that the library had from the heap on one rank of a role.
struct Heap {
  double most = 0;
  double mean = 0;

  Heap(std::size_t ranks, bool of_servers) {
    int counted = 0;
    for (int rank = 0; rank < static_cast<int>(ranks); ++rank) {
      if (computing().contains(rank) != of_servers) {
        ++counted;
        most = std::max(most, smpi_heap_of(rank));
        mean += smpi_heap_of(rank);
      }
    }
    mean = counted == 0 ? 0 : mean / counted;
  }
};

/// The bytes that ranks of a role sent and received between two moments, per step.
struct Traffic {
  double busiest = 0;  ///< control messages of the rank with most
  double mean = 0;
  double busiest_bytes = 0;

  Traffic(const std::vector<smpi_counts>& before, const std::vector<smpi_counts>& after, int steps,
          bool of_servers) {
    int ranks = 0;
    for (std::size_t rank = 0; rank < before.size(); ++rank) {
      if (computing().contains(static_cast<int>(rank)) == of_servers) {
        continue;
      }
      ++ranks;
      const auto& first = before[rank];
      const auto& last = after[rank];
      const double messages =
          last.control_sent - first.control_sent + last.control_received - first.control_received;
      const double bytes = last.control_sent_bytes - first.control_sent_bytes +
                           last.control_received_bytes - first.control_received_bytes;
      busiest = std::max(busiest, messages / steps);
      busiest_bytes = std::max(busiest_bytes, bytes / steps);
      mean += messages / steps;
    }
    mean = ranks == 0 ? 0 : mean / ranks;
  }
};

struct Times {
  double init = 0;
  double open = 0;
  double step = 0;        ///< with a block of each rank, until committed
  double empty_step = 0;  ///< until committed
  double end = 0;         ///< close and finalize
};

void tell(const Options& options, int compute, const Times& times,
          const std::vector<smpi_counts>& begun, const std::vector<smpi_counts>& first,
          const std::vector<smpi_counts>& last) {
  const Traffic servers{first, last, options.steps, true};
  const Traffic ranks{first, last, options.steps, false};
  const Heap heap_of_servers{last.size(), true};
  const Heap heap_of_ranks{last.size(), false};
  smpi_counts most{};
  double start_messages = 0;
  double start_bytes = 0;
  for (std::size_t rank = 0; rank < last.size(); ++rank) {
    const auto& one = last[rank];
    most.most_pending = std::max(most.most_pending, one.most_pending);
    most.longest_message = std::max(most.longest_message, one.longest_message);
    most.data_sent = std::max(most.data_sent, one.data_sent);
    start_messages =
        std::max(start_messages, begun[rank].control_sent + begun[rank].control_received);
    start_bytes = std::max(start_bytes, begun[rank].collective_bytes);
  }
  std::printf(
      "{\"program\": \"smpi\", \"ranks\": %zu, \"compute_ranks\": %d, \"servers\": %zu, "
      "\"cut\": \"%s\", \"values\": %lld, \"steps\": %d, "
      "\"init_seconds\": %.6f, \"open_seconds\": %.6f, \"step_seconds\": %.6f, "
      "\"empty_step_seconds\": %.6f, \"end_seconds\": %.6f, "
      "\"server_messages\": %g, \"mean_server_messages\": %g, \"server_message_bytes\": %g, "
      "\"compute_messages\": %g, \"compute_message_bytes\": %g, "
      "\"most_pending\": %g, \"longest_message_bytes\": %g, "
      "\"start_messages\": %g, \"start_collective_bytes\": %g, "
      "\"server_heap_bytes\": %.0f, \"mean_server_heap_bytes\": %.0f, "
      "\"compute_heap_bytes\": %.0f, \"mean_compute_heap_bytes\": %.0f, "
      "\"process_bytes\": %.0f}\n",
      last.size(), compute, last.size() - static_cast<std::size_t>(compute), options.cut.c_str(),
      static_cast<long long>(options.values), options.steps, times.init, times.open, times.step,
      times.empty_step, times.end, servers.busiest, servers.mean, servers.busiest_bytes,
      ranks.busiest, ranks.busiest_bytes, most.most_pending, most.longest_message, start_messages,
      start_bytes, heap_of_servers.most, heap_of_servers.mean, heap_of_ranks.most,
      heap_of_ranks.mean, process_bytes());
  std::fflush(stdout);
}

/// @return seconds per step, from all ranks to all ranks.
double write_steps(iocomp_file* file, iocomp_var* variable, const Block& block,
                   const std::vector<double>& values, MPI_Comm comm, int first, int count) {
  meet(comm);
  const double begun = MPI_Wtime();
  for (int step = first; step < first + count; ++step) {
    if (variable != nullptr) {
      iocomp_ticket ticket;
      CHECK(iocomp_put(variable, block.start.data(), block.count.data(), values.data(), &ticket));
    }
    CHECK(iocomp_end_step(file));
    CHECK(iocomp_wait_step(file, step));
  }
  meet(comm);
  return (MPI_Wtime() - begun) / count;
}

void compute(const Options& options, iocomp_session* session, double begun) {
  constexpr int warm_up = 2;
  Times times;
  const MPI_Comm comm = iocomp_comm(session);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  meet(comm);
  times.init = MPI_Wtime() - begun;
  iocomp_file* file = nullptr;
  CHECK(iocomp_open(session, "out", IOCOMP_SERIES, nullptr, &file));
  meet(comm);
  times.open = MPI_Wtime() - begun - times.init;
  const auto counted_at_start = counts_of_all();
  const Block block = block_of(options, rank, ranks);
  iocomp_var* variable = nullptr;
  CHECK(iocomp_define(file, "u", IOCOMP_FLOAT64, static_cast<int>(block.shape.size()),
                      block.shape.data(), &variable));
  std::int64_t count = 1;
  for (const auto one : block.count) {
    count *= one;
  }
  const std::vector<double> values(static_cast<std::size_t>(count), rank);
  (void)write_steps(file, variable, block, values, comm, 0, warm_up);
  smpi_begin_measuring();
  std::vector<smpi_counts> first = counts_of_all();
  times.step = write_steps(file, variable, block, values, comm, warm_up, options.steps);
  std::vector<smpi_counts> last = counts_of_all();
  times.empty_step =
      write_steps(file, nullptr, block, values, comm, warm_up + options.steps, options.steps);
  const double ended = MPI_Wtime();
  CHECK(iocomp_close(file));
  CHECK(iocomp_finalize(session));
  times.end = MPI_Wtime() - ended;
  if (rank == 0) {
    tell(options, ranks, times, counted_at_start, first, last);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--steps") {
      options.steps = std::atoi(argv[i + 1]);
    } else if (name == "--values") {
      options.values = std::atoll(argv[i + 1]);
    } else if (name == "--cut") {
      options.cut = argv[i + 1];
    } else if (name == "--rows") {
      options.rows = std::atoll(argv[i + 1]);
    }
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begun = MPI_Wtime();
  iocomp_session* session = nullptr;
  CHECK(iocomp_init(MPI_COMM_WORLD, nullptr, &session));
  if (iocomp_role(session) == IOCOMP_SERVER) {  // it has served
    CHECK(iocomp_finalize(session));
  } else {
    computing().insert(rank);
    compute(options, session, begun);
  }
  MPI_Finalize();
  return 0;
}
