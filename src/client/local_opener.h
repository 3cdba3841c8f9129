#pragma once

#include <mpi.h>

#include "client/direct_output.h"
#include "client/disk_work.h"
#include "client/link.h"
#include "client/meeting.h"
#include "client/opened_file.h"
#include "client/place.h"
#include "config/settings.h"

namespace iocomp::client {

/// Opens files that the compute ranks write themselves: by the kernel while the program goes on, or
/// synchronously.
class LocalOpener {
 public:
  /// @param meeting  of all compute ranks.
  LocalOpener(const config::Settings& settings, const Place& place, Link& link, Meeting& meeting,
              DiskWork& disk)
      : settings_{settings}, place_{place}, link_{link}, meeting_{meeting}, disk_{disk} {}

  /// Whether the kernel can write the file while the program goes on. Says where it cannot.
  [[nodiscard]] bool kernel_can_write(const OpenedFile& opened) const;
  /// Collective over `comm`, the members. @throws Error, the same on all ranks.
  void open_kernel(OpenedFile& opened, MPI_Comm comm);
  /// The same for a synchronous file.
  void open_direct(OpenedFile& opened, MPI_Comm comm);

 private:
  Meeting& meet_to_open(OpenedFile& opened, MPI_Comm comm);
  void put_openers_in_order(OpenedFile& opened, DirectOutput::Setup& setup) const;

  const config::Settings& settings_;
  const Place& place_;
  Link& link_;
  Meeting& meeting_;
  DiskWork& disk_;
};

}  // namespace iocomp::client
