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

/// A file that is open for writing, with all that is needed to close it or to hand it to another
/// carrier.
struct OpenedFile {
  /// Free its communicators. Collective over its ranks.
  void free_communicators();
  /// The terms of its publication. @param job  of the session.
  [[nodiscard]] commit::Publication::Identity identity(const std::string& job) const;

  config::FileSettings settings;
  std::string options;       ///< given by the program in the call
  std::vector<int> members;  ///< compute ranks
  const formats::Format* format = nullptr;
  /// A continued file loses the steps behind this number.
  std::int64_t after = protocol::everything;
  std::vector<std::string> predecessors;  ///< names of files whose steps come first
  FolderAddress folder;  ///< of the file, as meant by this rank when it opened the file
  std::shared_ptr<const OpenFolder> held;  ///< the folder of a file with servers

  // For a file without servers:
  MPI_Comm comm = MPI_COMM_NULL;
  /// For a file with servers and some ranks, made when it is needed.
  MPI_Comm rows_comm = MPI_COMM_NULL;
  MPI_Comm openers = MPI_COMM_NULL;  ///< the same in another order; it opens the MPI file
  std::unique_ptr<Meeting> meeting;  ///< null if all compute ranks are members

  // The file's carrier is one of these:
  LocalCarrier* local = nullptr;
  RemoteCarrier* remote = nullptr;

  std::unique_ptr<File> file;
  std::uint64_t closing = 0;  ///< the ticket, if the program does not wait for the close
};

using OpenedFiles = std::map<std::uint64_t, OpenedFile>;  ///< by key

}  // namespace iocomp::client
