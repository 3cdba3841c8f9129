// SPDX-License-Identifier: BSD-3-Clause
#include "common/step_file.h"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "common/ranks.h"

namespace iocomp::apps {
namespace {

/// FNV-1a over the bits of numbers.
std::uint64_t hash_of(std::span<const double> values) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const double value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3U;
  }
  return hash;
}

iocomp_var* define(iocomp_file* file, const std::string& name, iocomp_type type,
                   const Indices& shape) {
  iocomp_var* made = nullptr;
  check(
      iocomp_define(file, name.c_str(), type, static_cast<int>(shape.size()), shape.data(), &made),
      "iocomp_define");
  return made;
}

}  // namespace

StepFile::StepFile(const Session& session, std::string name, iocomp_kind kind, std::int64_t after,
                   Content content, bool verify, IoTimers& timers)
    : session_{session},
      name_{std::move(name)},
      content_{std::move(content)},
      remembers_{verify},
      is_first_{rank_in(session.comm()) == 0},
      timers_{timers},
      tickets_(content_.arrays.size()) {
  timers_.open.time([&] {
    const iocomp_open_options options{.size = sizeof options, .after = &after};
    check(iocomp_open(session.handle(), name_.c_str(), kind, &options, &file_), "iocomp_open");
    for (const auto& [array, part] : content_.arrays) {
      arrays_.push_back(define(file_, array, IOCOMP_FLOAT64, part->shape()));
    }
    for (const auto& [row, type, size] : content_.rows) {
      rows_.push_back(define(file_, row, type, {size}));
    }
  });
}

void StepFile::put(std::int64_t step, std::span<const double* const> values,
                   std::span<const void* const> rows) {
  if (remembers_) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      put_[step].push_back(hash_of({values[i], content_.arrays[i].part->elements()}));
    }
  }
  timers_.send.time([&] {
    constexpr double no_time = std::numeric_limits<double>::quiet_NaN();
    check(iocomp_begin_step(file_, step, no_time), "iocomp_begin_step");
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      content_.arrays[i].part->put(arrays_[i], values[i], &tickets_[i]);
    }
    for (std::size_t i = 0; is_first_ && i < rows_.size(); ++i) {
      const std::int64_t start = 0;
      const iocomp_block block{.size = sizeof block,
                               .start = &start,
                               .count = &content_.rows[i].size,
                               .values = rows[i],
                               .flags = IOCOMP_BUFFERED};
      check(iocomp_put_block(rows_[i], &block, nullptr), "iocomp_put_block");
    }
    check(iocomp_end_step(file_), "iocomp_end_step");
  });
  is_open_ = true;
  ++steps_;
  newest_ = step;
}

void StepFile::take_back() {
  if (!is_open_) return;
  timers_.wait.time([&] {
    for (const iocomp_ticket& ticket : tickets_) {
      check(iocomp_wait(&ticket, IOCOMP_REUSABLE), "iocomp_wait");
    }
  });
  is_open_ = false;
}

void StepFile::wait_durable(std::int64_t step) {
  if (step != newest_) return;
  timers_.wait.time([&] { check(iocomp_wait_step(file_, step), "iocomp_wait_step"); });
}

void StepFile::close() {
  timers_.close.time([&] { check(iocomp_close(file_), "iocomp_close"); });
  file_ = nullptr;
}

void StepFile::verify() const {
  if (steps_ == 0) return;
  iocomp_input* input = nullptr;
  check(iocomp_open_input(session_.handle(), name_.c_str(), nullptr, &input), "iocomp_open_input");
  std::vector<double> found;
  for (const auto& [step, hashes] : put_) {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const auto& [array, part] = content_.arrays[i];
      found.resize(part->elements());
      part->read(input, array, step, found);
      if (hash_of(found) == hashes[i]) continue;
      throw std::runtime_error("\"" + array + "\" of step " + std::to_string(step) +
                               " reads back other than it was put");
    }
  }
  check(iocomp_close_input(input), "iocomp_close_input");
}

std::size_t StepFile::bytes() const noexcept {
  std::int64_t elements = 0;
  for (const auto& [array, part] : content_.arrays) elements += product(part->shape());
  return static_cast<std::size_t>(steps_ * elements) * sizeof(double);
}

}  // namespace iocomp::apps
