// SPDX-License-Identifier: BSD-3-Clause
// An actor carries out scripts (README.md) with iocomp on every rank:
//   actor SCRIPT JOURNALS     one, in a launch of its own
//   actor --company FOLDER    many, one after the other (company.h)
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "company.h"
#include "play.h"

int main(int count, char** words) {
  MPI_Init(&count, &words);
  if (count != 3) {
    std::fprintf(stderr, "usage: actor SCRIPT JOURNALS | actor --company FOLDER\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    if (std::string_view{words[1]} == "--company") {
      actor::keep_company(words[2]);
    } else {
      actor::play(words[1], words[2]);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "actor: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
