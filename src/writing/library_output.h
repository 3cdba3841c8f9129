// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "disk/pace.h"
#include "writing/output.h"
#include "writing/physical_file.h"
#include "writing/piece.h"

namespace iocomp::writing {

/// A file that a library writes, in calls that block. Chunks wait in a queue, and each turn of the
/// calling thread writes a slice of it.
class LibraryOutput : public Output {
 public:
  /// @param pace  null: writes as fast as possible.
  LibraryOutput(PhysicalFile& file, std::shared_ptr<disk::Pace> pace)
      : file_{file}, pace_{std::move(pace)} {}

  void write(Chunk chunk) override { queue_.push_back(std::move(chunk)); }
  [[nodiscard]] bool has_work() const override {
    return !queue_.empty() && file_.shared() != nullptr;
  }
  void advance() override;

 private:
  std::int64_t write_front(std::int64_t most_bytes);

  PhysicalFile& file_;
  std::shared_ptr<disk::Pace> pace_;
  std::deque<Chunk> queue_;
};

}  // namespace iocomp::writing
