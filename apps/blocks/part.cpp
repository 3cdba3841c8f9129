// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/part.h"

#include "common/ranks.h"

namespace iocomp::apps::blocks {
namespace {

std::string suffix_of(Layout layout, int number) {
  if (layout == Layout::shared) return "";
  return (layout == Layout::process ? "-rank" : "-node") + std::to_string(number);
}

/// The number of this rank's node, or of its group of `node_size`.
int node_number(MPI_Comm compute, int node_size) {
  const int rank = rank_in(compute);
  if (node_size > 0) return rank / node_size;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(compute, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int first = rank_in(node) == 0 ? 1 : 0;
  int number = 0;
  MPI_Exscan(&first, &number, 1, MPI_INT, MPI_SUM, compute);
  if (rank == 0) number = 0;
  MPI_Bcast(&number, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  return number;
}

Block packed_among(MPI_Comm comm, std::int64_t own) {
  std::int64_t before = 0;
  std::int64_t all = 0;
  MPI_Exscan(&own, &before, 1, MPI_INT64_T, MPI_SUM, comm);
  if (rank_in(comm) == 0) before = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, comm);
  return {{all}, {{before}, {own}}};
}

}  // namespace

Part::Part(Layout layout, int node_size, MPI_Comm compute, const Block& global) : layout_{layout} {
  const int rank = rank_in(compute);
  int number = 0;
  if (layout == Layout::process) number = rank;
  if (layout == Layout::node) number = node_number(compute, node_size);
  MPI_Comm_split(compute, number, rank, &comm_);
  suffix_ = suffix_of(layout, number);
  if (layout == Layout::shared) {
    block_ = global;
  } else if (layout == Layout::node) {
    block_ = packed_among(comm_, global.own.elements());
  } else {
    block_ = {global.own.count, {Extents(global.own.count.size(), 0), global.own.count}};
  }
}

Part::~Part() { MPI_Comm_free(&comm_); }

std::vector<std::string> suffixes(Layout layout, int ranks) {
  if (layout == Layout::shared) return {""};
  std::vector<std::string> all;
  for (int number = 0; number < ranks; ++number) all.push_back(suffix_of(layout, number));
  return all;
}

}  // namespace iocomp::apps::blocks
