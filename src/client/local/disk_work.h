// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/worker.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/tickets.h"
#include "config/file_settings.h"
#include "config/settings.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "writing/spill.h"
#include "writing/submit.h"

namespace iocomp::client {

/// Writes of this rank that it does not wait for. It has the engine that writes, and moves it on
/// whenever the rank is in a call.
class DiskWork {
 public:
  struct Files {
    std::function<void()> submit;   ///< starts small writes that waited to share a plan
    std::function<bool()> advance;  ///< goes on with what was begun; true if anything moved
  };
  DiskWork(const disk::Options& disk, Link& link, Files files);

  /// Start an engine. Until then this rank gives no writes to the kernel.
  void start();
  [[nodiscard]] bool is_started() const noexcept { return engine_ != nullptr; }

  // These are there after the start:
  [[nodiscard]] BlockWriter& blocks() noexcept { return *blocks_; }
  /// The way for writers of files to submit plans. They must not outlive this object.
  [[nodiscard]] writing::Submit submitter();

  /// The kernel reads this memory of a block. If the program has waited for such memory before, it
  /// is copied meanwhile.
  [[nodiscard]] Lent lend(std::span<const std::byte> memory);
  /// The program waits for memory that the block of a ticket is written from. Parts whose write has
  /// not begun are copied, if there is room. The ticket is handed over when nobody reads the memory
  /// any more.
  void want_back(std::uint64_t ticket, Lent& lent);
  /// The largest single write, if memory must not be read for long.
  [[nodiscard]] std::size_t request_bytes() const;

  /// Takes copies that find no room. It is made when it is first asked for.
  /// @throws Error{storage_failure} if that is impossible.
  [[nodiscard]] writing::Spill& spill(const config::Settings& settings);

  /// The way writes go to the kernel: "io_uring", ...; empty if none do.
  [[nodiscard]] std::string engine_name() const;
  [[nodiscard]] disk::Options options_for(const config::FileSettings& file) const;

 private:
  struct Underway {  // a plan
    std::function<void(const disk::Completion&)> done;
    bool is_sync = false;
    std::vector<Copy> copies{};  // that it writes from
  };
  [[nodiscard]] Copy copy_of(std::span<const std::byte> memory);
  bool advance();
  bool end_plans();
  bool give_back();

  disk::Options disk_;
  Link& link_;
  Files files_;
  bool is_advancing_ = false;
  bool is_wanted_early_ = false;          // memory that was lent
  std::shared_ptr<Worker> early_copier_;  // there from then on, if the system gave a thread
  std::set<std::uint64_t> wanted_back_;   // tickets
  std::unique_ptr<BlockWriter> blocks_;
  std::unique_ptr<writing::Spill> spill_;
  std::unordered_map<std::uint64_t, Underway> underway_;
  std::uint64_t next_plan_ = 1;
  std::unique_ptr<disk::Engine> engine_;  // goes first: it reads copies, and tells spill_
};

}  // namespace iocomp::client
