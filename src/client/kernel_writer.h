#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/futex.h"
#include "client/carrier.h"
#include "client/copy_memory.h"
#include "client/link.h"
#include "client/tickets.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"

namespace iocomp::client {

/// Gives blocks of this rank to the disk engine: straight from the program's memory where that can
/// be written as it lies, else from a copy. One per session, for all files of the kernel transport.
class KernelWriter {
 public:
  /// Called from `advance` when all of a block is written, or the first part of it failed;
  /// `seconds` is what the engine spent.
  using Done = std::function<void(const Outcome&)>;

  /// @param copies  memory for copies, which others of this rank use too.
  KernelWriter(const disk::Options& disk, CopyMemory& copies, Link& link);

  /// Start writing a block whose variable begins at `offset` of the file, with the bytes of its
  /// numbers swapped where the file wants that. May wait for memory for a copy.
  /// @return whether the program's memory is read until the block is written.
  bool write(const Block& block, const std::shared_ptr<disk::OutputFile>& file, std::int64_t offset,
             bool swapped, Done done);
  /// Start writing elements `first` to `first + count` of a block's packed order, from where they
  /// lie. The bytes must stay untouched until `done`.
  void write_part(const Block& block, std::int64_t first, std::int64_t count,
                  std::span<const std::byte> bytes, const std::shared_ptr<disk::OutputFile>& file,
                  std::int64_t offset, Done done);
  /// Start an fsync of what was written through `file` and is complete.
  void sync(const std::shared_ptr<disk::OutputFile>& file, Done done);

  /// Take what has ended and call whom it concerns; true if there was anything. Never waits.
  bool advance();
  /// Sleep until something ends, the word has changed, or `longest` has passed.
  void sleep(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) {
    engine_->wait(longest, word);
  }
  [[nodiscard]] std::string engine_name() const { return engine_->name(); }

 private:
  struct Pending {  // a block, or an fsync
    std::size_t plans = 0;
    bool all_submitted = false;
    Outcome outcome;
    Done done;
  };
  struct Underway {  // a plan
    std::shared_ptr<Pending> pending;
    Copy copy;
    bool is_sync = false;
  };
  struct Part {  // what is being gathered of a block
    disk::Plan plan;
    Copy copy;
    std::size_t bytes = 0;  // of the copy
    std::size_t used = 0;
  };
  class Cutter;
  void submit(disk::Plan plan, Copy copy, const std::shared_ptr<Pending>& pending,
              bool is_sync = false);
  [[nodiscard]] Copy take_memory(std::size_t bytes, std::size_t page_remainder);
  void look_at_pages(std::span<const std::byte> memory);
  static void end(const std::shared_ptr<Pending>& pending);

  disk::Options disk_;
  Link& link_;
  CopyMemory& copies_;
  std::unordered_map<std::uint64_t, Underway> underway_;
  std::uint64_t next_plan_ = 1;
  std::set<const std::byte*> looked_at_;  // first bytes of arrays
  std::unique_ptr<disk::Engine> engine_;  // last: it reads what is above
};

}  // namespace iocomp::client
