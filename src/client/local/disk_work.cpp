// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/disk_work.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/copy_memory.h"
#include "client/local/disk_plans.h"
#include "config/file_settings.h"
#include "config/settings.h"
#include "config/spill_folder.h"
#include "disk/options.h"
#include "disk/spill_file.h"
#include "writing/piece.h"
#include "writing/spill.h"

namespace iocomp::client {

DiskWork::DiskWork(const disk::Options& disk, Link& link, Files files)
    : disk_{disk}, link_{link}, files_{std::move(files)} {}

void DiskWork::start() {
  plans_ = std::make_unique<DiskPlans>(disk_, link_.counters());
  blocks_ = std::make_unique<BlockWriter>(disk_, link_);
  link_.move_with([this] { return advance(); },
                  [this](auto longest, const auto& word) { plans_->sleep(longest, word); });
}

writing::Spill& DiskWork::spill(const config::Settings& settings) {
  if (!spill_) {
    auto file = std::make_unique<disk::SpillFile>(
        config::spill_folder(settings),
        static_cast<std::size_t>(settings.bytes("staging.spill_limit")), disk_);
    CopyMemory& copies = link_.copies();
    spill_ = std::make_unique<writing::Spill>(
        std::move(file),
        writing::Spill::Memory{
            .most_given_bytes = copies.limit_bytes() / 4,  // the rest is for what is put next
            .is_short = [] { return true; },
            .take =
                [&copies](writing::Chunk& chunk, std::size_t bytes, std::size_t page_remainder) {
                  const Copy copy = copies.try_take_for_disk(bytes, page_remainder);
                  chunk.bytes = chunk.own_bytes = {copy.get(), copy ? bytes : 0};
                  chunk.loan = copy;
                  return copy != nullptr;
                }},
        link_.counters());
  }
  return *spill_;
}

std::string DiskWork::engine_name() const { return plans_ ? plans_->engine_name() : std::string{}; }

disk::Options DiskWork::options_for(const config::FileSettings& file) const {
  return file.may_overlap ? disk::without_direct(disk_) : disk_;
}

bool DiskWork::advance() {
  files_.submit();
  bool moved = plans_->advance();
  // Inside of that somebody may wait for memory, and so come here again.
  if (!is_advancing_) {
    is_advancing_ = true;
    const Outcome outcome = outcome_of([&] { moved = files_.advance() || moved; });
    is_advancing_ = false;
    outcome.throw_unless_ok();
  }
  return moved;
}

}  // namespace iocomp::client
