// Carries out a script of calls of iocomp, the same on all ranks: conformance_program <script>.
// stdout gets one line, the number of compute ranks; what is written is for others to check.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <iocomp/iocomp.hpp>
#include <string>
#include <vector>

#include "performer.h"
#include "script.h"

namespace {

[[noreturn]] void abort_job(const std::string& where, const std::exception& error) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "rank %d, %s: %s\n", rank, where.c_str(), error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::terminate();
}

// Fails while the session still lives: its destructor would wait for ranks that may never come.
void perform(const std::vector<Line>& lines, iocomp::Session& session, const std::string& path) {
  std::string where = path;
  try {
    Performer performer{session};
    for (const auto& line : lines) {
      where = path + " line " + std::to_string(line.number());
      performer.perform(line);
    }
    where = "finalize";
    session.finalize();
  } catch (const std::exception& error) {
    abort_job(where, error);
  }
}

void run(const std::string& path) {
  const auto lines = read_script(path);
  iocomp::Session session{MPI_COMM_WORLD};
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);
  perform(lines, session, path);
  if (rank == 0) {
    std::printf("compute ranks: %d\n", size);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    run(argc == 2 ? argv[1] : "");
  } catch (const std::exception& error) {
    abort_job("conformance_program", error);
  }
  MPI_Finalize();
  return 0;
}
