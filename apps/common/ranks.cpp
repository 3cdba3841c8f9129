// SPDX-License-Identifier: BSD-3-Clause
#include "common/ranks.h"

#include <nlohmann/json.hpp>

namespace iocomp::apps {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

double max_over(MPI_Comm comm, double value) {
  double largest = value;
  MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return largest;
}

nlohmann::json max_over(MPI_Comm comm, const nlohmann::json& numbers) {
  nlohmann::json largest = numbers;
  for (auto& [key, value] : largest.items()) {
    value = value.is_object() ? max_over(comm, value)
                              : nlohmann::json(max_over(comm, value.get<double>()));
  }
  return largest;
}

}  // namespace iocomp::apps
