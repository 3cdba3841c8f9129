// SPDX-License-Identifier: BSD-3-Clause
// The same as numbers.c, through the C++ face.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <iocomp/iocomp.hpp>
#include <numeric>
#include <vector>

namespace {

constexpr std::int64_t total = 1000;

void write_numbers() {
  iocomp::Session io{MPI_COMM_WORLD};  // servers leave the program in here
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(io.comm(), &rank);
  MPI_Comm_size(io.comm(), &size);
  const std::int64_t start = total * rank / size;
  const std::int64_t count = total * (rank + 1) / size - start;
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), start);

  iocomp::File out = io.open("numbers", IOCOMP_SERIES);
  const auto numbers = out.define<std::int64_t>("numbers", {total});
  const iocomp::Ticket ticket = numbers.put({start}, {count}, values);
  out.end_step();
  ticket.wait();
  out.close();
  io.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    write_numbers();
  } catch (const iocomp::Error& error) {
    std::fprintf(stderr, "%s: %s\n", iocomp_code_name(error.code()), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
