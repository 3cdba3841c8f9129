// SPDX-License-Identifier: BSD-3-Clause
#include "trace/counters.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "trace/event.h"

namespace iocomp::trace {
namespace {

constexpr std::array<std::string_view, counter_count> names{"put_bytes",
                                                            "puts",
                                                            "steps",
                                                            "call_seconds",
                                                            "put_seconds",
                                                            "buffer_wait_seconds",
                                                            "wait_seconds",
                                                            "close_seconds",
                                                            "checksum_seconds",
                                                            "copied_bytes",
                                                            "lent_bytes",
                                                            "late_copies",
                                                            "late_copied_bytes",
                                                            "late_copy_seconds",
                                                            "small_page_bytes",
                                                            "gpu_bytes",
                                                            "reads",
                                                            "read_bytes",
                                                            "read_seconds",
                                                            "received_bytes",
                                                            "pieces",
                                                            "write_seconds",
                                                            "direct_bytes",
                                                            "buffered_bytes",
                                                            "sync_seconds",
                                                            "commit_seconds",
                                                            "staging_peak_bytes",
                                                            "staging_limit_bytes",
                                                            "full_seconds",
                                                            "serve_seconds",
                                                            "cpu_seconds",
                                                            "in_place_bytes",
                                                            "staged_bytes",
                                                            "pulled_bytes",
                                                            "message_bytes",
                                                            "sleeps",
                                                            "wake_ups",
                                                            "joined_bytes",
                                                            "stripes",
                                                            "partial_stripes",
                                                            "control_messages",
                                                            "spilled_bytes",
                                                            "spill_seconds",
                                                            "raw_bytes",
                                                            "compressed_bytes",
                                                            "compress_seconds",
                                                            "writer_threads",
                                                            "divided_bytes",
                                                            "failures"};

}  // namespace

void Counters::merge(const std::vector<double>& other) noexcept {
  for (std::size_t i = 0; i < values_.size() && i < other.size(); ++i) {
    values_[i] += other[i];
  }
}

std::string_view name(Counter counter) noexcept { return names[static_cast<std::size_t>(counter)]; }

Timer::Timer(Counters& counters, Counter counter) noexcept
    : counters_{counters}, counter_{counter}, begin_{now_seconds()} {}

Timer::Timer(Counters& counters, Counter counter, What what, const Subject& subject) noexcept
    : Timer{counters, counter} {
  span_.emplace(counters.timeline(), what, subject);
}

Timer::~Timer() { counters_.add(counter_, now_seconds() - begin_); }

}  // namespace iocomp::trace
