// SPDX-License-Identifier: BSD-3-Clause
// An actor carries out scripts (README.md) with iocomp on every rank:
//   actor [--serialized | --multiple] SCRIPT JOURNALS     one, in a launch of its own
//   actor [--serialized | --multiple] --company FOLDER    many, one after the other (company.h)
// Serialized: calls may come from several threads, one at a time. Multiple: iocomp's own threads
// may call MPI.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "company.h"
#include "play.h"

int main(int count, char** words) {
  const std::string_view asked = count > 1 ? words[1] : "";
  if (asked == "--serialized" || asked == "--multiple") {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&count, &words,
                    asked == "--multiple" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &level);
    --count;
    ++words;
  } else {
    MPI_Init(&count, &words);
  }
  if (count != 3) {
    std::fprintf(stderr,
                 "usage: actor [--serialized | --multiple] (SCRIPT JOURNALS | --company FOLDER)\n");
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
