// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/decomposition.h"
#include "base/error.h"
#include "base/huge_memory.h"
#include "client/council/meeting.h"
#include "client/file.h"
#include "client/input_opener.h"
#include "client/link.h"
#include "client/local/disk_work.h"
#include "client/local/local_opener.h"
#include "client/opened_file.h"
#include "client/place.h"
#include "client/remote/remote_opener.h"
#include "client/sequence.h"
#include "client/takeover/takeover.h"
#include "client/tickets.h"
#include "config/settings.h"
#include "disk/options.h"
#include "mpi/wait.h"
#include "reading/input.h"
#include "transport/transport.h"

namespace iocomp::client {

/// Memory for the program's arrays. It is shared with the servers of the node if that is worth it.
class ArrayMemory {
 public:
  ArrayMemory(const config::Settings& settings, Link& link) : settings_{settings}, link_{link} {}

  /// Memory that puts read in place if that is possible; zeroed.
  /// @throws Error{out_of_staging_memory}.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// @throws Error{invalid_argument} if `allocate` did not return this memory, or it was freed.
  void free(void* memory);

 private:
  const config::Settings& settings_;
  Link& link_;
  std::map<const void*, HugeMemory> own_;  // memory that is not shared
};

/// The rows of several members follow one another. These are their places, by variable.
struct Rows {
  std::vector<std::int64_t> first;  ///< of this member
  std::vector<std::int64_t> total;
};

/// The compute side of a session: opens files and answers for tickets.
class Client {
 public:
  Client(const config::Settings& settings, const mpi::WaitPolicy& policy, const disk::Options& disk,
         Place place, transport::Transport* transport);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// @param comm  of the members; MPI_COMM_NULL for all compute ranks.
  /// @param kind   "series" or "checkpoint".
  /// @param after  a continued file loses the steps behind this number.
  /// @param options  see Settings::with_options.
  File* open(MPI_Comm comm, const std::string& name, const std::string& kind,
             std::int64_t after = protocol::everything, const std::string& options = {});
  /// Open for reading. Collective over `comm`, as above.
  /// @throws the same on all ranks.
  [[nodiscard]] std::unique_ptr<reading::Input> open_input(MPI_Comm comm, const std::string& name,
                                                           const std::string& options = {});
  /// Let steps of a file, from its current one on, come after those of files of this name. They are
  /// committed only after the steps that this rank has ended of those files.
  void come_after(File* file, const std::string& name);
  /// Close and forget the file, whatever `close` says.
  void close(File* file);
  /// The same, without waiting. @return a ticket. It is handed over when the memory of all puts is
  /// free, and written and durable when all is committed.
  [[nodiscard]] std::uint64_t close_later(File* file);
  /// Give each member so many rows of some variables from the current step on, behind those of the
  /// members before it. Collective over the members.
  /// @return the first row of this member for each variable, and the rows of all.
  Rows set_rows(File* file, std::span<const int> variables, std::span<const std::int64_t> rows,
                const Outcome& given = {});

  /// @throws Error with the failure of the ticket.
  [[nodiscard]] bool test(std::uint64_t ticket, State state);
  void wait(std::uint64_t ticket, State state);
  /// Wait for the puts of this rank into a file, except those that it has awaited in this way
  /// before.
  /// @throws Error with the first failure, when all have come to an end.
  void wait_puts(File& file, State state);
  void progress() {
    link_.pump();
    takeover_.go_on_without_servers();
    sequence_.tell();
  }

  /// Nothing more is put with this decomposition, so servers may forget its runs.
  void forget(const array::Decomposition& decomposition);

  [[nodiscard]] ArrayMemory& array_memory() noexcept { return array_memory_; }

  /// Close what is open, say goodbye to home and take its counters. @return the first failure that
  /// nobody was told.
  [[nodiscard]] Outcome finalize();

  /// The program ends without `finalize`: tell what is lost, and let the servers go.
  /// @param part  what the compute ranks do together at last.
  void give_up(const std::function<void()>& part);

  /// True if the compute ranks can still do collective work together.
  [[nodiscard]] bool can_meet() const noexcept { return meeting_.ended().ok(); }
  /// The greatest value of the compute ranks. Collective; without servers it is an error on all of
  /// them if some make another call.
  [[nodiscard]] std::int64_t most_of(const char* call, std::int64_t mine);

  [[nodiscard]] Link& link() noexcept { return link_; }
  /// The way writes go to the kernel: "io_uring", ...; empty if servers write.
  [[nodiscard]] std::string kernel_engine() const { return disk_.engine_name(); }
  [[nodiscard]] int home() const noexcept { return place_.home; }

 private:
  [[nodiscard]] std::uint64_t next_key(const std::string& name, const std::vector<int>& members);
  [[nodiscard]] bool open_with_servers(OpenedFile& opened);
  void open_without_servers(OpenedFile& opened, MPI_Comm group);
  void watch(OpenedFile& opened);
  void tell(const OpenedFile& opened);
  void submit_files();
  bool advance_files();
  void forget(OpenedFiles::iterator closed);
  [[nodiscard]] Outcome end(OpenedFiles::iterator open);
  std::optional<std::int64_t> meet(const char* call, std::int64_t mine = 0);
  void settle_closed();
  [[nodiscard]] MPI_Comm members_comm(OpenedFile& opened);
  [[nodiscard]] bool has_reached(std::uint64_t ticket, State state);
  void wait_once(std::uint64_t ticket, State state);
  void urge_when_polled(std::uint64_t ticket, State state);
  void say_goodbye();
  [[nodiscard]] File* owner(std::uint64_t ticket);

  const config::Settings& settings_;
  Place place_;
  Link link_;
  Meeting meeting_;  // of all compute ranks
  ArrayMemory array_memory_;
  DiskWork disk_;
  OpenedFiles files_;
  Sequence sequence_{settings_, place_, link_, files_};
  std::map<std::string, std::uint64_t> opens_;  // number of opens of a name by a group
  RemoteOpener remote_opener_{settings_, place_, link_, disk_};
  LocalOpener local_opener_{settings_, place_, link_, meeting_, disk_};
  InputOpener input_opener_{settings_, place_, link_, meeting_};
  Takeover takeover_{place_, link_, disk_, local_opener_, files_};
};

}  // namespace iocomp::client
