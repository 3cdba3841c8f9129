// SPDX-License-Identifier: BSD-3-Clause
#include "formats/mpi_hints.h"

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/format.h"
#include "mpi/error.h"

namespace iocomp::formats {
namespace {

// Longer texts would call the error handler of MPI_COMM_WORLD, which aborts unless the application
// says otherwise.
void check_length(const std::string& key, const std::string& value) {
  if (key.empty() || value.empty() || key.size() >= MPI_MAX_INFO_KEY ||
      value.size() >= MPI_MAX_INFO_VAL) {
    throw Error{ErrorCode::invalid_setting,
                "the MPI-IO hint \"" + key + '=' + value + "\" is not possible: 1 to " +
                    std::to_string(MPI_MAX_INFO_KEY - 1) + " characters for the key, 1 to " +
                    std::to_string(MPI_MAX_INFO_VAL - 1) + " for the value"};
  }
}

}  // namespace

MpiHints::MpiHints(const FormatOptions& options,
                   const std::vector<std::pair<std::string, std::string>>& weak) {
  for (const auto& [key, value] : options.hints) {
    check_length(key, value);
  }
  mpi::check(MPI_Info_create(&raw_));
  for (const auto& [key, value] : weak) {
    set(key, value);
  }
  // Several writers fill the gaps of one another. ROMIO would read, change and write back such gaps
  // where it thinks that this saves calls; a hint of the user's can still ask for it.
  set("romio_ds_write", "disable");
  for (const auto& [key, value] : options.hints) {
    set(key, value);
  }
}

MpiHints::~MpiHints() {
  if (raw_ != MPI_INFO_NULL) {
    MPI_Info_free(&raw_);
  }
}

void MpiHints::set(const std::string& key, const std::string& value) {
  mpi::check(MPI_Info_set(raw_, key.c_str(), value.c_str()));
}

}  // namespace iocomp::formats
