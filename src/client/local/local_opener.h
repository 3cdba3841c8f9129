// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "client/council/file_council.h"
#include "client/council/meeting.h"
#include "client/exchange/exchange.h"
#include "client/link.h"
#include "client/local/disk_work.h"
#include "client/local/local_carrier.h"
#include "client/local/member_blocks.h"
#include "client/opened_file.h"
#include "client/place.h"
#include "commit/publisher.h"
#include "config/settings.h"

namespace iocomp::client {

/// Opens files that the compute ranks write themselves: by the kernel or a thread while the program
/// goes on, or synchronously.
class LocalOpener {
 public:
  /// @param meeting  of all compute ranks.
  LocalOpener(const config::Settings& settings, const Place& place, Link& link, Meeting& meeting,
              DiskWork& disk)
      : settings_{settings}, place_{place}, link_{link}, meeting_{meeting}, disk_{disk} {}

  /// The reason why a file cannot be written while the program goes on; empty if it can.
  [[nodiscard]] std::string obstacle_to_kernel(const formats::Format& format) const;
  /// Collective over `comm`, the members. @throws Error, the same on all ranks.
  void open(OpenedFile& opened, MPI_Comm comm, bool synchronous);
  /// Called instead of `open`: make a carrier that goes on after others. The members are ranks of
  /// the compute ranks' communicator. @pre opened.remote carries the file until then.
  [[nodiscard]] std::unique_ptr<LocalCarrier> go_on_after(const OpenedFile& opened,
                                                          const commit::Left& left);

 private:
  struct Terms {
    FileCouncil::Setup council;
    MemberBlocks::Setup blocks;
  };
  Meeting& meet_to_open(OpenedFile& opened, MPI_Comm comm);
  [[nodiscard]] Terms terms(const OpenedFile& opened) const;
  void write_by_kernel(const OpenedFile& opened, Terms& terms);
  void put_together(const config::FileSettings& file, MemberBlocks::Setup& blocks) const;
  void write_waiting(OpenedFile& opened, Terms& terms);
  void write_beside(OpenedFile& opened, Terms& terms);
  [[nodiscard]] std::int64_t domain_bytes(const OpenedFile& opened) const;

  const config::Settings& settings_;
  const Place& place_;
  Link& link_;
  Meeting& meeting_;
  DiskWork& disk_;
};

}  // namespace iocomp::client
