// An actor plays a script (script.h) with iocomp on every rank: actor SCRIPT JOURNAL_FOLDER
#include <mpi.h>

#include <cstdio>
#include <exception>

#include "journal.h"
#include "script.h"
#include "stage.h"

namespace {

void play(const char* script, const char* journal_folder) {
  int rank = 0;
  int level = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Query_thread(&level);
  actor::Journal journal{journal_folder, rank};
  journal.write({{"call", "mpi_init"}, {"thread_level_is_single", level == MPI_THREAD_SINGLE}});
  actor::Stage stage{journal};
  for (const auto& line : actor::read_script(script)) {
    stage.perform(line);
    if (stage.is_server() || (line.word == "init" && !stage.has_session())) {
      break;
    }
  }
  if (stage.has_session()) {
    stage.finalize();
  }
  journal.write({{"call", "end"}});
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  if (count != 3) {
    std::fprintf(stderr, "usage: actor SCRIPT JOURNAL_FOLDER\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    play(words[1], words[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "actor: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
