// SPDX-License-Identifier: BSD-3-Clause
#include "array/paired_runs.h"

#include <algorithm>
#include <cstdint>

#include "array/runs.h"

namespace iocomp::array {

bool PairedRuns::next(PairedRun& run) noexcept {
  if ((global_run_.elements == 0 && !global_.next(global_run_)) ||
      (local_run_.elements == 0 && !local_.next(local_run_))) {
    return false;
  }
  run = {global_run_.index, local_run_.index, std::min(global_run_.elements, local_run_.elements)};
  for (Run* each : {&global_run_, &local_run_}) {
    each->index += run.elements;
    each->elements -= run.elements;
  }
  return true;
}

}  // namespace iocomp::array
