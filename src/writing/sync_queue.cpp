// SPDX-License-Identifier: BSD-3-Clause
#include "writing/sync_queue.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "disk/engine.h"
#include "disk/output_file.h"
#include "trace/event.h"

namespace iocomp::writing {

void SyncQueue::ask(const std::shared_ptr<disk::OutputFile>& file, Done done) {
  file_ = file;
  waiting_.push_back(std::move(done));
  if (!is_underway_) {
    start();
  }
}

void SyncQueue::start() {
  is_underway_ = true;
  disk::Plan plan;
  plan.file = file_;
  plan.sync = true;
  auto asked = std::make_shared<const std::vector<Done>>(std::exchange(waiting_, {}));
  submit_(std::move(plan), [self = shared_from_this(), asked,
                            begin = now_seconds()](const disk::Completion& completion) {
    self->record_(trace::What::sync, begin, {});
    const Outcome outcome{completion.code, completion.story};
    for (const auto& done : *asked) {
      done(outcome);
    }
    self->is_underway_ = false;
    if (!self->waiting_.empty()) {
      self->start();
    }
  });
}

}  // namespace iocomp::writing
