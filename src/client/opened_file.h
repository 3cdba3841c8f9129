// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/open_folder.h"
#include "client/council/meeting.h"
#include "client/file.h"
#include "client/local/local_carrier.h"
#include "client/remote/remote_carrier.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "formats/format.h"
#include "protocol/messages.h"

namespace iocomp::client {

/// A file that is open for writing, and what is needed to close it or to hand it to another
/// carrier.
struct OpenedFile {
  /// Free its communicators. Collective over its ranks.
  void free_communicators();
  /// The terms of its publication. @param job  of the session.
  [[nodiscard]] commit::Publication::Identity identity(const std::string& job) const;

  config::FileSettings settings;
  std::string options;       ///< that the program gave in the call
  std::vector<int> members;  ///< compute ranks
  const formats::Format* format = nullptr;
  std::int64_t after = protocol::everything;  ///< what it loses where it is continued
  std::vector<std::string> predecessors;      ///< names of files whose steps come first
  FolderAddress folder;  ///< in which it lies, as this rank has meant it when it opened the file
  std::shared_ptr<const OpenFolder> held;  ///< of one with servers: the one in which it lies

  // Of a file without servers:
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm rows_comm = MPI_COMM_NULL;  ///< of one with servers and some ranks, once it is needed
  MPI_Comm openers = MPI_COMM_NULL;    ///< the same in another order, which opens the MPI file
  std::unique_ptr<Meeting> meeting;    ///< where not all compute ranks are members

  // The file's carrier is one of these:
  LocalCarrier* local = nullptr;
  RemoteCarrier* remote = nullptr;

  std::unique_ptr<File> file;
  std::uint64_t closing = 0;  ///< the ticket, where the program does not wait for its close
};

using OpenedFiles = std::map<std::uint64_t, OpenedFile>;  ///< by key

}  // namespace iocomp::client
