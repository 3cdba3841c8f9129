// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "disk/output_file.h"
#include "trace/span.h"
#include "writing/submit.h"

namespace iocomp::writing {

/// The fsyncs of one physical file, one at a time. All who ask while one is under way share the
/// next one. Plans under way keep this object alive.
class SyncQueue : public std::enable_shared_from_this<SyncQueue> {
 public:
  using Done = std::function<void(const Outcome&)>;
  SyncQueue(Submit submit, trace::Recorder record)
      : submit_{std::move(submit)}, record_{std::move(record)} {}

  /// Make durable what was written through `file` and has ended.
  void ask(const std::shared_ptr<disk::OutputFile>& file, Done done);

 private:
  void start();

  Submit submit_;
  trace::Recorder record_;
  std::shared_ptr<disk::OutputFile> file_;
  std::vector<Done> waiting_;  // for the next fsync
  bool is_underway_ = false;
};

}  // namespace iocomp::writing
