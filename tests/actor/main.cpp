// SPDX-License-Identifier: BSD-3-Clause
// An actor carries out scripts (README.md) with iocomp on every rank:
//   actor [--serialized] SCRIPT JOURNALS     one, in a launch of its own
//   actor [--serialized] --company FOLDER    many, one after the other (company.h)
// Serialized: calls may come from several threads, one at a time.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "company.h"
#include "play.h"

int main(int count, char** words) {
  const bool is_serialized = count > 1 && std::string_view{words[1]} == "--serialized";
  if (is_serialized) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&count, &words, MPI_THREAD_SERIALIZED, &level);
    --count;
    ++words;
  } else {
    MPI_Init(&count, &words);
  }
  if (count != 3) {
    std::fprintf(stderr,
                 "usage: actor [--serialized] SCRIPT JOURNALS | [--serialized] --company FOLDER\n");
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
