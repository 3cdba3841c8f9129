// SPDX-License-Identifier: BSD-3-Clause
#include "server/unheard.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"

namespace iocomp::server {
namespace {

constexpr double longest_patience_seconds = 60;
constexpr double part_of_deadline = 0.1;

}  // namespace

Unheard::Unheard(bool tells, double deadline_seconds)
    : is_over_{!tells},
      patience_seconds_{deadline_seconds > 0 ? std::min(longest_patience_seconds,
                                                        deadline_seconds * part_of_deadline)
                                             : longest_patience_seconds},
      began_{now_seconds()} {}

void Unheard::look() {
  if (is_over_ || now_seconds() - began_ < patience_seconds_) {
    return;
  }
  is_over_ = true;
  std::fprintf(stderr,
               "iocomp: no compute rank has called iocomp in the %.0f s since iocomp_init. If the "
               "program hangs, a library in it uses MPI_COMM_WORLD, where it waits for the servers "
               "too: give it a duplicate of iocomp_comm()\n",
               patience_seconds_);
}

}  // namespace iocomp::server
