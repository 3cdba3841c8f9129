// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "steps/put_log.h"
#include "writer/output_files.h"
#include "writer/writer_file.h"

namespace iocomp::client {

/// Blocks of a file with servers that this rank itself gives to the kernel. Nobody needs to receive
/// them: they are long, contiguous in memory and file, and aligned alike. The server is told when
/// they are durable, and counts them like pieces of its own.
class OwnWrites : private writer::WriterFile::Owner {
 public:
  struct Setup {
    std::uint64_t key = 0;
    int home = 0;
    int rank = 0;                 ///< compute rank
    std::size_t least_bytes = 0;  ///< the smallest block
    writer::OutputFiles::Setup files;
  };
  OwnWrites(Setup setup, commit::Publication names, BlockWriter& blocks, Link& link,
            const contents::Catalogue& catalogue);
  /// Open the file before the first commit gives it its final name. @throws Error{storage_failure}.
  void open() { (void)file_.files().writer(-1).file().open(); }

  /// True if the block goes this way. Explains it, the first time for each variable.
  [[nodiscard]] bool takes(const Block& block);
  void put(const Block& block);
  /// This rank has put all it has for a step.
  void ended(std::int64_t step) {
    if (untold_.contains(step)) {
      file_.ended(step);
    }
  }
  /// The program waits for the memory of a block from now on. If it waits longer than a server
  /// needs to take the blocks of a variable, the next ones go to the server.
  void wanted_back(std::uint64_t ticket) { wanted_back_.try_emplace(ticket, now_seconds()); }
  /// Somebody waits for durable blocks.
  void hurry() { is_in_a_hurry_ = true; }
  /// There is no server to tell any more. Wait until the kernel has written what was put.
  /// @return the descriptors, which know of fsyncs that have failed, or have still to hear of them.
  [[nodiscard]] std::shared_ptr<disk::OutputFile> finish_without_server();
  /// Go on with work that was begun. @return true if anything moved.
  bool advance();
  /// True if no work is under way that reads the program's memory, or that the server must hear of.
  [[nodiscard]] bool is_idle() const noexcept { return untold_.empty(); }

 private:
  struct Step {  // has blocks that the server does not know yet
    std::vector<steps::PutRecord> puts;
    std::optional<Outcome> outcome;  // set when nothing of it is owed any more
  };
  struct Waits {
    int blocks = 0;
    double seconds = 0;
    double bytes = 0;
  };
  [[nodiscard]] const char* obstacle(const Block& block) const;
  void count_wait(const writer::Given& block, std::size_t bytes);
  bool tell_server();
  void tell(const writer::Given& block, writer::WriterFile::Became became,
            const Outcome& outcome) override;
  [[nodiscard]] bool is_awaited(const writer::Given& /*block*/) const override { return false; }
  void report(protocol::Kind kind, const protocol::StepNote& note) override;
  void report(const protocol::PutReport& /*puts*/) override {}  // the server asks for them all

  Setup setup_;
  BlockWriter& blocks_;
  Link& link_;
  const contents::Catalogue& catalogue_;
  writer::WriterFile file_;
  std::map<std::int64_t, Step> untold_;
  std::map<std::uint64_t, std::size_t> writing_;  // bytes, by ticket
  std::set<int> explained_;                       // variables
  std::map<std::uint64_t, double> wanted_back_;   // tickets, since when
  std::map<int, Waits> waits_;                    // by variable
  std::set<int> waited_for_;                      // variables that go to servers for that
  bool is_in_a_hurry_ = false;
  bool has_server_ = true;
};

}  // namespace iocomp::client
