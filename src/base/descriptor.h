// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <utility>

namespace iocomp {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int raw) noexcept : raw_{raw} {}
  Descriptor(Descriptor&& other) noexcept : raw_{std::exchange(other.raw_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Descriptor taken{std::move(other)};
    std::swap(raw_, taken.raw_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  [[nodiscard]] int raw() const noexcept { return raw_; }
  [[nodiscard]] bool is_open() const noexcept { return raw_ >= 0; }
  /// The result of close(2): file systems may report a failed write here. 0 when there is nothing
  /// to close.
  int close() noexcept { return raw_ < 0 ? 0 : ::close(std::exchange(raw_, -1)); }

 private:
  int raw_ = -1;
};

}  // namespace iocomp
