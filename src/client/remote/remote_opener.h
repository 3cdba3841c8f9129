// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "client/link.h"
#include "client/local/disk_work.h"
#include "client/opened_file.h"
#include "client/place.h"
#include "config/settings.h"

namespace iocomp::client {

/// Opens files that servers write.
class RemoteOpener {
 public:
  RemoteOpener(const config::Settings& settings, const Place& place, Link& link, DiskWork& disk)
      : settings_{settings}, place_{place}, link_{link}, disk_{disk} {}

  /// Have the servers open the file, and sleep until they have.
  /// @throws Error with the servers' reason, ServersLost.
  void open(OpenedFile& opened);
  /// Let this rank itself write blocks that nobody needs to receive. Only for formats whose offsets
  /// every rank knows, and for files that it can hold open from before their first commit.
  void offer_own_writes(OpenedFile& opened);

 private:
  const config::Settings& settings_;
  const Place& place_;
  Link& link_;
  DiskWork& disk_;
};

}  // namespace iocomp::client
