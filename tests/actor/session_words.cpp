// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "words.h"

namespace actor {
namespace {

void init(Stage& stage, const Line& line) {
  const double began = now_seconds();
  const int code = iocomp_init(MPI_COMM_WORLD, nullptr, &stage.session);
  if (code == IOCOMP_OK) {
    stage.role = iocomp_role(stage.session);
    const MPI_Comm compute = iocomp_comm(stage.session);
    if (compute != MPI_COMM_NULL) {
      MPI_Comm_rank(compute, &stage.rank);
      stage.journal.set_compute_rank(stage.rank);
    }
  }
  stage.tell(line, code, began, {{"role", static_cast<int>(stage.role)}});
}

void finalize(Stage& stage, const Line& line) {
  const double began = now_seconds();
  stage.tell(line, iocomp_finalize(stage.session), began);
  stage.session = nullptr;
}

/// True if a process has ended, or is stopped.
bool is_out(pid_t process) {
  const std::string state = process_state(process);
  return state.empty() || std::string_view{"XZT"}.find(state.front()) != std::string_view::npos;
}

// MPI_Finalize may wait for ranks that are dead, or have left without it. Of lost servers one is
// out by now, or ends soon: those that were given up with it do.
void leave(Stage& stage, const Line& /*line*/) {
  stage.finalize();
  constexpr int looks = 20;
  constexpr std::chrono::milliseconds pause{20};
  for (int look = 0; look < looks; ++look) {
    if (std::ranges::any_of(stage.processes, is_out)) {
      std::_Exit(0);
    }
    std::this_thread::sleep_for(pause);
  }
}

void progress(Stage& stage, const Line& line) {
  const double began = now_seconds();
  stage.tell(line, iocomp_progress(stage.session), began);
}

void should_stop(Stage& stage, const Line& line) {
  const double began = now_seconds();
  int stop = -1;
  const int code = iocomp_should_stop(stage.session, &stop);
  stage.tell(line, code, began, {{"stop", stop}});
}

// Without iocomp_finalize, or with it when it is too late.
void leave_by_mpi(Stage& stage, const Line& line) {
  MPI_Finalize();
  stage.journal.write({{"call", "mpi_finalize"}});
  if (line.has("late")) {
    int closed = IOCOMP_OK;
    for (auto& [name, file] : stage.files) {
      closed = iocomp_close(file.handle);
    }
    const int code = iocomp_finalize(stage.session);
    stage.journal.write(
        {{"call", "late_finalize"}, {"code", code}, {"closed", closed}, {"story", iocomp_error()}});
  }
  std::_Exit(0);
}

void settings(Stage& stage, const Line& line) {
  stage.journal.write(
      {{"call", "settings"}, {"line", line.number}, {"text", iocomp_settings(stage.session)}});
}

}  // namespace

Words session_words() {
  return {{"init", init},
          {"finalize", finalize},
          {"leave", leave},
          {"leave_by_mpi", leave_by_mpi},
          {"should_stop", should_stop},
          {"progress", progress},
          {"settings", settings}};
}

}  // namespace actor
