// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>

#include "client/tickets.h"

namespace iocomp::client {

/// Copies memory that will be wanted back, in a thread that takes only the time that nobody else
/// wants. Used by one thread.
class EarlyCopies {
 public:
  EarlyCopies() = default;
  EarlyCopies(const EarlyCopies&) = delete;
  EarlyCopies& operator=(const EarlyCopies&) = delete;
  ~EarlyCopies() = default;

  /// Copy from the front on. Both stay valid until `end`. Copies begin in the order of these calls.
  void begin(std::span<const std::byte> from, std::byte* to);
  /// Copy no more of it; may wait for the part that is being copied. @return the bytes at the front
  /// of `to` that are there.
  std::size_t end(const std::byte* to);

 private:
  struct Copying {
    std::span<const std::byte> from;
    std::byte* to = nullptr;
    std::size_t done_bytes = 0;
    bool is_busy = false;   // a part is being copied
    bool is_ended = false;  // nobody wants more
  };
  using Copyings = std::list<Copying>;
  void work(const std::stop_token& stop);
  [[nodiscard]] Copyings::iterator next();

  bool has_no_thread_ = false;  // the system gave none
  std::mutex mutex_;
  std::condition_variable_any begun_;
  std::condition_variable part_ended_;
  Copyings all_;         // guarded by mutex_
  std::jthread thread_;  // last: it uses what is above
};

/// One such copy; nobody reads the memory any more when this has ended.
class EarlyCopy {
 public:
  EarlyCopy(std::shared_ptr<EarlyCopies> copies, std::span<const std::byte> from, Copy to)
      : copies_{std::move(copies)}, to_{std::move(to)} {
    copies_->begin(from, to_.get());
  }
  EarlyCopy(const EarlyCopy&) = delete;
  EarlyCopy& operator=(const EarlyCopy&) = delete;
  ~EarlyCopy() { (void)copies_->end(to_.get()); }

  [[nodiscard]] const Copy& to() const noexcept { return to_; }
  /// Copy no more. @return the bytes at the front that are there; 0 from the second call on.
  std::size_t end() { return copies_->end(to_.get()); }

 private:
  std::shared_ptr<EarlyCopies> copies_;
  Copy to_;
};

}  // namespace iocomp::client
