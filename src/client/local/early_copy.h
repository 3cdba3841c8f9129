// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "base/worker.h"
#include "client/tickets.h"

namespace iocomp::client {

/// A copy of memory that will be wanted back, made in a thread that takes only the time that nobody
/// else wants. Nobody reads the memory any more when this has ended. Used by one thread.
class EarlyCopy {
 public:
  /// Copy from the front on, after what the thread has been given before.
  EarlyCopy(std::shared_ptr<Worker> thread, std::span<const std::byte> from, Copy to);
  EarlyCopy(const EarlyCopy&) = delete;
  EarlyCopy& operator=(const EarlyCopy&) = delete;
  ~EarlyCopy() { (void)end(); }

  [[nodiscard]] const Copy& to() const noexcept { return to_; }
  /// Copy no more; may wait for the part that is being copied. @return the bytes at the front that
  /// are there; 0 from the second call on.
  std::size_t end();

 private:
  struct Copying {
    std::mutex mutex;  // held while a part is copied
    std::size_t done_bytes = 0;
    std::atomic<bool> is_ended = false;  // nobody wants more
  };
  std::shared_ptr<Worker> thread_;
  Copy to_;
  std::shared_ptr<Copying> copying_ = std::make_shared<Copying>();
};

}  // namespace iocomp::client
