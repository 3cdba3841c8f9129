// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "contents/catalogue.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "writing/file_writer.h"

namespace iocomp::client {

/// The blocks of a file with servers that this rank gives to the kernel itself, because nobody need
/// receive them: long, contiguous in memory and file, aligned alike. Its server is told when they
/// are durable and counts them like pieces of its own.
class OwnWrites {
 public:
  struct Setup {
    std::uint64_t key = 0;
    std::string name;
    int home = 0;
    int rank = 0;                 ///< compute rank
    std::size_t least_bytes = 0;  ///< of a block
    std::unique_ptr<writing::FileWriter> writer;
  };
  OwnWrites(Setup setup, BlockWriter& blocks, Link& link, const contents::Catalogue& catalogue);
  ~OwnWrites() { *is_here_ = false; }
  OwnWrites(const OwnWrites&) = delete;
  OwnWrites& operator=(const OwnWrites&) = delete;

  /// Whether the block goes this way. Says why, the first time for each variable.
  [[nodiscard]] bool takes(const Block& block);
  void put(const Block& block);
  /// This rank has put all it has for a step.
  void ended(std::int64_t step) { ended_ = step + 1; }
  /// The program waits for the memory of a block from now on. Where it does so for longer than a
  /// server needs to take the blocks of a variable, the next ones go to the server.
  void wanted_back(std::uint64_t ticket) { wanted_back_.try_emplace(ticket, now_seconds()); }
  /// Somebody waits for durable blocks.
  void hurry() { is_in_a_hurry_ = true; }
  /// There is no server to tell any more: wait until the kernel has what was put.
  void finish_without_server();
  /// Go on with what was begun; true if anything moved.
  bool advance();
  /// Nothing is under way that reads the program's memory, or that the server is not told of.
  [[nodiscard]] bool is_idle() const noexcept { return steps_.empty() && !is_syncing_; }

 private:
  struct Step {
    std::size_t writing = 0;             // blocks
    std::vector<std::uint64_t> written;  // tickets, not fsynced
    Outcome failure;
    std::vector<steps::PutRecord> untold;  // blocks that the server does not know of yet
  };
  struct Waits {
    int blocks = 0;
    double seconds = 0;
    double bytes = 0;
  };
  [[nodiscard]] const char* obstacle(const Block& block) const;
  void count_wait(const Block& block);
  void written(const Block& block, const Outcome& outcome);
  bool sync();
  void synced(const std::map<std::int64_t, std::vector<std::uint64_t>>& tickets,
              const Outcome& outcome);
  bool tell();

  Setup setup_;
  BlockWriter& blocks_;
  Link& link_;
  const contents::Catalogue& catalogue_;
  std::map<std::int64_t, Step> steps_;           // with blocks that the server does not know of yet
  std::set<int> explained_;                      // variables
  std::map<std::uint64_t, double> wanted_back_;  // tickets, since when
  std::map<int, Waits> waits_;                   // by variable
  std::set<int> waited_for_;                     // variables that go to servers for that
  std::int64_t ended_ = 0;
  bool is_in_a_hurry_ = false;
  bool is_syncing_ = false;
  bool has_server_ = true;
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);  // false for completions too late
};

}  // namespace iocomp::client
