// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/run_list.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/served_file.h"
#include "staging/arena.h"
#include "trace/event.h"
#include "transport/transport.h"
#include "writing/piece.h"

namespace iocomp::server {

/// A piece that a compute rank has announced. Not all of its bytes have been asked for.
struct QueuedPiece {
  std::vector<std::byte> message;
  protocol::Piece piece;  ///< refers to the message
  array::Region region;
  std::uint64_t file_key = 0;
  ServedFile* file = nullptr;
  std::shared_ptr<writing::Piece> begun;
  std::int64_t next = 0;  ///< elements of the piece asked for so far
};

/// Gives pieces that are neighbours in the file memory one behind the other, so that they are
/// written at once. For pieces that travel inside their headers.
class RowMemory {
 public:
  explicit RowMemory(staging::Arena& arena) noexcept : arena_{arena} {}

  /// Memory for the first piece of a queue, beside that of the piece before.
  /// @return nothing if the piece has no neighbours that are here already, or there is no room:
  /// then it gets memory of its own.
  [[nodiscard]] std::span<std::byte> place(const std::deque<QueuedPiece>& queue,
                                           writing::Chunk& chunk);
  /// The next piece belongs to another queue.
  void end() {
    lease_.reset();
    left_ = {};
  }

 private:
  staging::Arena& arena_;
  std::shared_ptr<const staging::Lease> lease_;
  std::span<std::byte> left_;
};

/// Takes pieces in. There is one queue per compute rank, in the order of its puts. A chunk is
/// fetched only when there is a lease for it, so that the staging memory bounds what this server
/// holds. Pieces that have failed are fetched into one scratch chunk and dropped, because the
/// memory of their sender must become free all the same.
class Intake {
 public:
  using FindFile = std::function<ServedFile*(std::uint64_t)>;
  /// @param kept_bytes  staging memory that all files keep for steps of which more may come.
  Intake(Context& context, transport::Transport& transport, FindFile find,
         std::function<std::size_t()> kept_bytes);

  /// A piece message of a compute rank has arrived.
  void take(int client, std::vector<std::byte> message);
  /// Fetch what can be fetched, and pass on what has arrived. @return true if anything moved.
  bool advance();
  /// A client announces runs that later pieces refer to by their number, and forgets them again.
  void know_runs(int client, std::uint64_t number, array::RunList runs);
  void forget_runs(int client, std::uint64_t number);
  /// True if nothing comes in because there is no memory for it, and if nothing on its way could
  /// end this by itself.
  [[nodiscard]] bool is_stuck() const;
  [[nodiscard]] bool is_empty() const noexcept { return queued_ == 0 && fetching_.empty(); }

 private:
  struct Client {
    std::deque<QueuedPiece> queue;
    int fetches = 0;  // those under way
    std::map<std::uint64_t, std::shared_ptr<const array::RunList>> run_lists;
  };
  struct Fetching {
    int client = -1;
    ServedFile* file = nullptr;
    writing::Chunk chunk;
    bool drained = false;
    bool last = false;  // the last chunk of its piece
    double began = 0;
  };

  bool begin(int client, QueuedPiece& queued);
  [[nodiscard]] std::vector<std::pair<const int, Client>*> in_turn();
  bool take_turn(int rank, Client& client);
  bool fetch_next(int rank, Client& client);
  bool take_inside(Client& client);
  void leave_queue(Client& client, QueuedPiece& queued, Fetching& fetching);
  // Read a chunk where its sender has it, if that is possible and pays.
  [[nodiscard]] bool borrow(int rank, const QueuedPiece& queued, writing::Chunk& chunk);
  // Get memory for a chunk. A piece that fails instead of waiting gets none, and the answer is
  // true.
  [[nodiscard]] bool lease(QueuedPiece& queued, writing::Chunk& chunk,
                           std::span<std::byte>& memory);
  void complete(transport::FetchId id);
  // Tell the timeline. @param begin  nothing means now.
  void record(trace::What what, std::optional<double> begin, const ServedFile& file,
              const writing::Chunk& chunk) const;

  Context& context_;
  transport::Transport& transport_;
  FindFile find_;
  std::function<std::size_t()> kept_bytes_;
  std::map<int, Client> clients_;  // by session rank
  std::unordered_map<transport::FetchId, Fetching> fetching_;
  std::vector<std::byte> scratch_;
  bool scratch_used_ = false;
  std::size_t queued_ = 0;
  double full_since_ = 0;
  double short_since_ = 0;  // since when memory is short for something; 0: it is not
  bool is_short_ = false;   // in this round
  int turn_ = 0;            // the client that is first in this round
  RowMemory row_;           // for the client whose turn it is
};

}  // namespace iocomp::server
