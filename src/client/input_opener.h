// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/council/meeting.h"
#include "client/link.h"
#include "client/place.h"
#include "config/settings.h"
#include "mpi/wait.h"
#include "reading/input.h"

namespace iocomp::client {

/// Opens committed files for reading. One rank looks at the disk, and the others learn from it.
class InputOpener {
 public:
  /// @param meeting  of all compute ranks.
  InputOpener(const config::Settings& settings, const Place& place, Link& link, Meeting& meeting)
      : settings_{settings}, place_{place}, link_{link}, meeting_{meeting} {}

  /// Collective over `comm`; MPI_COMM_NULL for all compute ranks.
  /// @param options  see Settings::with_options.
  /// @param meanwhile  goes on with files that are being written while this rank waits.
  /// @throws the same on all ranks.
  [[nodiscard]] std::unique_ptr<reading::Input> open(MPI_Comm comm, const std::string& name,
                                                     const std::string& options,
                                                     std::function<void()> meanwhile);

 private:
  [[nodiscard]] std::unique_ptr<reading::Input> find_together(MPI_Comm comm, Meeting& meeting,
                                                              const std::string& name,
                                                              const std::string& options,
                                                              const mpi::WaitPolicy& policy);
  [[nodiscard]] reading::Input::HasRead counted() const;
  [[nodiscard]] std::string modules() const { return settings_.text("storage.modules"); }

  const config::Settings& settings_;
  const Place& place_;
  Link& link_;
  Meeting& meeting_;
};

}  // namespace iocomp::client
