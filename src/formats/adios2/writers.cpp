// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/writers.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "base/error.h"
#include "formats/adios2/failure.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::formats::bp {
namespace {

constexpr double longest_patience_seconds = 60;

Outcome attempt(const std::string& what, const std::function<void()>& call) {
  try {
    call();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::exception& error) {
    const Error told = failure_of_adios2(what, error);
    return {told.code(), told.what()};
  }
}

}  // namespace

Writers::Writers(MPI_Comm comm, const mpi::WaitPolicy& wait)
    : comm_{comm},
      wait_{wait},
      patience_seconds_{wait.deadline_seconds > 0
                            ? std::min(wait.deadline_seconds, longest_patience_seconds)
                            : longest_patience_seconds} {
  mpi::check(MPI_Comm_rank(comm, &rank_));
  mpi::check(MPI_Comm_size(comm, &size_));
  MPI_Comm node = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node));
  int rank_on_node = 0;
  mpi::check(MPI_Comm_rank(node, &rank_on_node));
  int first_on_node = rank_;
  mpi::check(MPI_Bcast(&first_on_node, 1, MPI_INT, 0, node));
  MPI_Comm_free(&node);
  syncs_ = rank_on_node == 0 && first_on_node != 0;
  std::array<std::int64_t, 1> any{syncs_ ? 1 : 0};
  mpi::maximum(comm, any, wait_, "the other writers of a dataset");
  has_other_nodes_ = any[0] != 0;
}

void Writers::agree(const Outcome& mine, double deadline_seconds) const {
  const mpi::WaitPolicy policy{deadline_seconds};
  Outcome common;
  try {
    common = mpi::agree(comm_, mine, policy, "the other writers of a dataset");
  } catch (const Error&) {
    std::fprintf(stderr,
                 "iocomp: %s (on writer %d). The others are inside ADIOS2 and wait for this one "
                 "for ever: the job is aborted.\n",
                 mine.story.c_str(), rank_);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  common.throw_unless_ok();
}

void Writers::together(const std::string& action, const std::string& path,
                       const std::function<void()>& call) const {
  const Outcome mine = attempt(action + ' ' + path, call);
  agree(mine, mine.ok() ? 0 : patience_seconds_);
}

void Writers::on_other_nodes(const std::function<void()>& make_durable) const {
  if (!has_other_nodes_) {
    return;
  }
  agree({}, 0);  // all have written
  const Outcome mine = outcome_of([&] {
    if (syncs_) {
      make_durable();
    }
  });
  agree(mine, 0);
}

}  // namespace iocomp::formats::bp
