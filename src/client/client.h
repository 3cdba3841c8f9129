#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "array/decomposition.h"
#include "base/huge_memory.h"
#include "client/block_writer.h"
#include "client/direct_carrier.h"
#include "client/direct_output.h"
#include "client/disk_plans.h"
#include "client/file.h"
#include "client/input.h"
#include "client/kernel_carrier.h"
#include "client/link.h"
#include "client/meeting.h"
#include "client/remote_carrier.h"
#include "client/tickets.h"
#include "config/file_settings.h"
#include "config/settings.h"
#include "disk/options.h"
#include "formats/format.h"
#include "mpi/peers.h"
#include "transport/transport.h"

namespace iocomp::client {

/// What a compute rank knows of its session.
struct Place {
  MPI_Comm comm = MPI_COMM_NULL;  ///< all compute ranks; the library's own
  std::int32_t rank = 0;          ///< in `comm`
  std::string job;                ///< "<host>-<pid>", the same on all ranks
  mpi::Peers servers;             ///< session ranks by number; empty without servers
  int home = -1;                  ///< number of this rank's server
  std::vector<int> neighbours;    ///< compute ranks with the same server, ascending; this one too
  std::size_t chunk_bytes = 0;    ///< largest message of data
  double core_share = 1;          ///< of its hardware threads that other compute ranks leave it
  bool has_kernel = false;        ///< asynchronous files are written by the kernel: no servers
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
  /// @param kind  "series" or "checkpoint".
  File* open(MPI_Comm comm, const std::string& name, const std::string& kind);
  /// Open for reading. Collective over `comm`, as above.
  /// @throws the same on all ranks.
  [[nodiscard]] std::unique_ptr<Input> open_input(MPI_Comm comm, const std::string& name);
  /// Close and forget the file, whatever close says.
  void close(File* file);

  /// @throws Error with the failure of the ticket.
  [[nodiscard]] bool test(std::uint64_t ticket, State state);
  void wait(std::uint64_t ticket, State state);
  void progress() {
    link_.pump();
    go_on_without_servers();
  }

  /// Nothing more is put with this decomposition: servers may forget its runs.
  void forget(const array::Decomposition& decomposition);

  /// Memory that puts read in place where that is possible; zeroed.
  /// @throws Error{out_of_staging_memory}.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// @throws Error{invalid_argument} for memory that `allocate` did not return, or that was freed.
  void free_memory(void* memory);

  /// Close what is open, say goodbye to home and take its counters. @return the first failure
  /// nobody was told.
  [[nodiscard]] Outcome finalize();

  /// Whether the compute ranks can still do collective work with one another.
  [[nodiscard]] bool can_meet() const noexcept { return meeting_.ended().ok(); }

  [[nodiscard]] Link& link() noexcept { return link_; }
  /// How the kernel is given writes: "io_uring", ...; empty where servers write.
  [[nodiscard]] std::string kernel_engine() const {
    return plans_ ? plans_->engine_name() : std::string{};
  }
  [[nodiscard]] int home() const noexcept { return place_.home; }

 private:
  struct Opened {
    // Of a synchronous file:
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm openers = MPI_COMM_NULL;  // where they open it in another order than that of `comm`
    std::unique_ptr<Meeting> meeting;  // where not all compute ranks are members
    const DirectCarrier* carrier = nullptr;
    // Of a file that servers write:
    RemoteCarrier* remote = nullptr;
    config::FileSettings settings;
    std::vector<int> members;
    const formats::Format* format = nullptr;
    // Of a file that the kernel writes:
    MPI_Comm placing = MPI_COMM_NULL;
    MPI_Comm verdicts = MPI_COMM_NULL;
    KernelCarrier* kernel = nullptr;

    std::unique_ptr<File> file;
  };
  static void check_name(const std::string& name);
  [[nodiscard]] std::string modules() const { return settings_.text("storage.modules"); }
  [[nodiscard]] std::vector<std::byte> find_together(MPI_Comm comm, Meeting& meeting,
                                                     const std::string& name,
                                                     const mpi::WaitPolicy& policy,
                                                     std::unique_ptr<Input>& input);
  void watch(File& file, const config::FileSettings& settings);
  [[nodiscard]] disk::Options disk_options(const config::FileSettings& file) const;
  void open_remote(Opened& opened, const config::FileSettings& file,
                   const std::vector<int>& members);
  void open_direct(Opened& opened, const config::FileSettings& file, MPI_Comm comm,
                   const std::vector<int>& members, const formats::Format& format);
  void open_kernel(Opened& opened, const config::FileSettings& file, MPI_Comm comm,
                   const std::vector<int>& members, const formats::Format& format);
  void offer_kernel(Opened& opened, const config::FileSettings& file,
                    const formats::Format& format);
  bool advance_kernel();
  void open_without_servers(Opened& opened, const config::FileSettings& file, MPI_Comm comm,
                            const std::vector<int>& members, const formats::Format& format);
  void go_on_without_servers();
  [[nodiscard]] std::unique_ptr<Carrier> take_over(Opened& opened);
  void start_kernel();
  [[nodiscard]] std::unique_ptr<Carrier> successor(Opened& opened);
  [[nodiscard]] bool is_opened_by_servers(const Opened& opened);
  void carry_on(Opened& opened);
  [[nodiscard]] static bool kernel_can_write(const formats::Format& format,
                                             const config::FileSettings& file);
  [[nodiscard]] mpi::WaitPolicy policy_with_kernel(mpi::WaitPolicy policy);
  [[nodiscard]] commit::Publication::Identity identity(const Opened& opened,
                                                       const config::FileSettings& file) const;
  [[nodiscard]] static formats::FormatOptions format_options(const config::FileSettings& file);
  Meeting& meet_to_open(Opened& opened, const config::FileSettings& file, MPI_Comm comm,
                        const std::vector<int>& members);
  void put_openers_in_order(Opened& opened, const config::FileSettings& file,
                            DirectOutput::Setup& setup) const;
  static void free(Opened& opened);
  [[nodiscard]] std::vector<int> members(MPI_Comm comm) const;
  void wait_once(std::uint64_t ticket, State state);
  void urge_when_polled(std::uint64_t ticket, State state);
  void say_goodbye();
  [[nodiscard]] File* owner(std::uint64_t ticket);

  const config::Settings& settings_;
  disk::Options disk_;
  Place place_;
  Link link_;
  Meeting meeting_;                      // of all compute ranks
  std::unique_ptr<BlockWriter> blocks_;  // where this rank writes without waiting, like the next
  std::unique_ptr<DiskPlans> plans_;     // goes first: its engine reads copies of blocks_
  bool is_advancing_ = false;
  bool servers_have_ended_ = false;  // those that were lost
  std::map<const void*, HugeMemory> allocated_;
  std::map<std::uint64_t, Opened> files_;       // by key
  std::map<std::string, std::uint64_t> opens_;  // how often a name was opened by a group
};

}  // namespace iocomp::client
