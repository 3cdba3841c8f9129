// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients with output, in the call forms of the first iocomp's HPCG client (May 2023):
// iocompInit with five arguments, dataWait with two, and no call that names a file.
//   hpcg_v1 <HT: 0|1> <ioLib> <ranks per node> <iterations>
// A x = b with A = tridiag(-1, 2, -1) over all ranks; after each iteration x goes on its way while
// the next one computes. Rank r has r rows more than rank 0.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../include/iocomp.h"

static struct iocomp_params iocompParams;

namespace {

double dot(const std::vector<double>& one, const std::vector<double>& other, MPI_Comm comm) {
  double sum = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    sum += one[i] * other[i];
  }
  double all = 0;
  int ierr = MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
  mpi_error_check(ierr);
  return all;
}

void multiply(const std::vector<double>& p, std::vector<double>& Ap, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  double left = 0;
  double right = 0;
  MPI_Sendrecv(&p.back(), 1, MPI_DOUBLE, above, 0, &left, 1, MPI_DOUBLE, below, 0, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&p.front(), 1, MPI_DOUBLE, below, 1, &right, 1, MPI_DOUBLE, above, 1, comm,
               MPI_STATUS_IGNORE);
  const size_t n = p.size();
  for (size_t i = 0; i < n; ++i) {
    Ap[i] = 2 * p[i] - (i > 0 ? p[i - 1] : left) - (i + 1 < n ? p[i + 1] : right);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  if (argc < 5) {
    return 2;
  }
  const bool HT = std::atoi(argv[1]) != 0;
  const int ioLib = std::atoi(argv[2]);
  const int NODESIZE = std::atoi(argv[3]);
  const int iterations = std::atoi(argv[4]);

  MPI_Comm comm = iocompInit(&iocompParams, MPI_COMM_WORLD, HT, ioLib, NODESIZE);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const size_t nrow = 500 + static_cast<size_t>(rank);

  std::vector<double> x(nrow, 0.0);
  std::vector<double> sent(nrow);
  std::vector<double> r(nrow, 1.0);
  std::vector<double> p(r);
  std::vector<double> Ap(nrow);
  MPI_Request request;
  double rtr = dot(r, r, comm);
  for (int k = 1; k <= iterations; ++k) {
    multiply(p, Ap, comm);
    const double alpha = rtr / dot(p, Ap, comm);
    for (size_t i = 0; i < nrow; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * Ap[i];
    }
    if (k > 1) {
      dataSendTest(&iocompParams, &request);
      dataWait(&iocompParams, &request);  // `sent` changes below
    }
    sent = x;
    dataSend(sent.data(), &iocompParams, &request, nrow);
    const double oldrtr = rtr;
    rtr = dot(r, r, comm);
    for (size_t i = 0; i < nrow; ++i) {
      p[i] = r[i] + rtr / oldrtr * p[i];
    }
  }
  if (iterations != 1) {  // else stopSend is the only one that can wait for it
    dataWait(&iocompParams, &request);
  }
  stopSend(&iocompParams);
  if (rank == 0) {
    std::printf("residual %.3e\n", std::sqrt(rtr));
  }
  MPI_Finalize();
  return 0;
}
