// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>

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

  std::mutex mutex_;
  std::condition_variable_any begun_;
  std::condition_variable part_ended_;
  Copyings all_;         // guarded by mutex_
  std::jthread thread_;  // last: it uses what is above
};

}  // namespace iocomp::client
