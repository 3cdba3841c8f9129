// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/path.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/open_together.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "trace/counters.h"
#include "unit/temporary_folder.h"
#include "writing/file_writer.h"
#include "writing/stripes.h"

namespace iocomp::writing {

/// A file in a folder of the test's own, a writer for it, and an engine that carries out its plans,
/// which are noted.
class WrittenFile {
 public:
  struct Plan {
    std::vector<std::pair<std::int64_t, std::size_t>> writes;  // offset, bytes
    bool sync = false;
  };

  explicit WrittenFile(FileWriter::Setup setup = {},
                       disk::EngineKind engine = disk::EngineKind::threads)
      : arena{1 << 20},
        stripe_memory{arena},
        stripes{stripe_memory,
                {.bytes = 64 << 10,
                 .run_bytes = Stripes::long_run_bytes(64 << 10),
                 .swaps_bytes = setup.swaps_bytes}} {
    disk::Options options;
    options.engine = engine;
    engine_ = disk::start_engine(options);
    if (setup.path.name().empty()) {
      setup.path = Path{folder_ / "file"};
    }
    path_ = setup.path.text();
    setup.opening = formats::Opening::shares;
    setup.counters = &counters;
    setup.stripes = &stripes;
    setup.submit = [this](disk::Plan plan, auto done) { submit(std::move(plan), std::move(done)); };
    writer = std::make_unique<FileWriter>(std::move(setup));
  }

  /// Until nothing is under way.
  void finish() {
    writer->submit();
    while (!underway_.empty()) {
      engine_->wait(std::chrono::minutes{1});
      for (const auto& completion : engine_->take_completed()) {
        underway_.extract(completion.id).mapped()(completion);
      }
    }
  }

  /// Numbers of the file from an offset on; 0 where it has ended.
  [[nodiscard]] std::vector<std::int64_t> numbers(std::int64_t offset, std::int64_t count) const {
    const std::string text = text_of(path_);
    std::vector<std::int64_t> found(static_cast<std::size_t>(count));
    const auto from = static_cast<std::size_t>(offset);
    if (from < text.size()) {
      std::memcpy(found.data(), text.data() + from,
                  std::min(text.size() - from, found.size() * sizeof(std::int64_t)));
    }
    return found;
  }

  staging::Arena arena;
  staging::ArenaStripes stripe_memory;
  Stripes stripes;
  trace::Counters counters;
  std::vector<Plan> plans;
  /// True if a plan fails instead, by its number.
  std::function<bool(std::size_t)> fails = [](std::size_t) { return false; };
  std::unique_ptr<FileWriter> writer;

 private:
  void submit(disk::Plan plan, std::function<void(const disk::Completion&)> done) {
    Plan noted;
    for (const auto& write : plan.writes) {
      noted.writes.emplace_back(write.offset, write.bytes.size());
    }
    noted.sync = plan.sync;
    plans.push_back(std::move(noted));
    if (fails(plans.size() - 1)) {
      disk::Completion failed;
      failed.code = ErrorCode::storage_failure;
      failed.story = "no room for plan " + std::to_string(plans.size() - 1);
      done(failed);
      return;
    }
    plan.id = plans.size();
    underway_.emplace(plan.id, std::move(done));
    engine_->submit(std::move(plan));
  }

  TemporaryFolder folder_;
  std::string path_;
  std::unordered_map<std::uint64_t, std::function<void(const disk::Completion&)>> underway_;
  std::unique_ptr<disk::Engine> engine_;
};

}  // namespace iocomp::writing
