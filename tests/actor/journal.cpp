// SPDX-License-Identifier: BSD-3-Clause
#include "journal.h"

#include <sys/resource.h>

#include <chrono>
#include <stdexcept>

#include "recorder.h"

namespace actor {
namespace {

/// While one lives, files may be as large as they like.
class NoFileSizeLimit {
 public:
  NoFileSizeLimit() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    set(before_.rlim_max);
  }
  NoFileSizeLimit(const NoFileSizeLimit&) = delete;
  NoFileSizeLimit& operator=(const NoFileSizeLimit&) = delete;
  ~NoFileSizeLimit() { set(before_.rlim_cur); }

 private:
  void set(rlim_t bytes) const {
    if (before_.rlim_cur != before_.rlim_max) {
      const rlimit limit{bytes, before_.rlim_max};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
  }
  rlimit before_{};
};

}  // namespace

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Journal::Journal(const std::string& folder, int world_rank)
    : file_{folder + "/rank" + std::to_string(world_rank) + ".jsonl"},
      world_rank_{world_rank},
      began_{now_seconds()} {
  if (!file_) {
    throw std::runtime_error{"cannot write a journal into " + folder};
  }
}

void Journal::write(nlohmann::json entry) {
  entry["rank"] = world_rank_;
  entry["compute_rank"] = compute_rank_;
  entry["at_seconds"] = now_seconds() - began_;
  const std::string text = entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const NoFileSizeLimit unlimited;
  file_ << text << std::endl;
  if (recorder::is_on()) {
    recorder::tell(text);
  }
}

}  // namespace actor
