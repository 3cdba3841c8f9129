// SPDX-License-Identifier: BSD-3-Clause
#include "play.h"

#include <iocomp/iocomp.h>
#include <mpi.h>

#include "journal.h"
#include "script.h"
#include "stage.h"

namespace actor {

void play(const std::string& script, const std::string& journals) {
  int rank = 0;
  int level = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Query_thread(&level);
  Journal journal{journals, rank};
  journal.write({{"call", "mpi_init"}, {"thread_level_is_single", level == MPI_THREAD_SINGLE}});
  Stage stage{journal};
  for (const auto& line : read_script(script)) {
    stage.perform(line);
    if (stage.is_server() || (line.word == "init" && stage.session == nullptr)) {
      break;
    }
  }
  if (stage.session != nullptr) {
    stage.finalize();
  }
  journal.write({{"call", "end"}});
}

}  // namespace actor
