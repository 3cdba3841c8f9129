// SPDX-License-Identifier: BSD-3-Clause
#include "api/open_options.h"

#include <iocomp/iocomp.h>

#include "api/guard.h"

namespace iocomp::api {

OpenOptions::OpenOptions(const iocomp_open_options* given, const char* call) {
  if (given == nullptr) {
    return;
  }
  const auto told = struct_of(given, call, "iocomp_open_options");
  if (told.settings != nullptr) {
    settings = told.settings;
  }
  if (told.comm != nullptr) {
    comm = *told.comm;
    require_ranks(comm, call);
  }
  if (told.after != nullptr) {
    after = *told.after;
  }
}

}  // namespace iocomp::api
