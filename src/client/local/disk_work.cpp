#include "client/local/disk_work.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/disk_plans.h"
#include "config/file_settings.h"
#include "disk/options.h"

namespace iocomp::client {

DiskWork::DiskWork(const disk::Options& disk, Link& link, Files files)
    : disk_{disk}, link_{link}, files_{std::move(files)} {}

void DiskWork::start() {
  plans_ = std::make_unique<DiskPlans>(disk_, link_.counters());
  blocks_ = std::make_unique<BlockWriter>(disk_, link_);
  link_.move_with([this] { return advance(); },
                  [this](auto longest, const auto& word) { plans_->sleep(longest, word); });
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
    if (!outcome.ok()) {
      throw Error{outcome.code, outcome.story};
    }
  }
  return moved;
}

}  // namespace iocomp::client
