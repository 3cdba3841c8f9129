// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <utility>

namespace iocomp::hdf5 {

/// Owns an identifier of HDF5.
template <herr_t (*Close)(hid_t)>
class Identifier {
 public:
  Identifier() noexcept = default;
  explicit Identifier(hid_t raw) noexcept : raw_{raw} {}
  Identifier(Identifier&& other) noexcept : raw_{std::exchange(other.raw_, H5I_INVALID_HID)} {}
  Identifier& operator=(Identifier&& other) noexcept {
    Identifier taken{std::move(other)};
    std::swap(raw_, taken.raw_);
    return *this;
  }
  Identifier(const Identifier&) = delete;
  Identifier& operator=(const Identifier&) = delete;
  ~Identifier() {
    if (raw_ >= 0) {
      Close(raw_);
    }
  }

  [[nodiscard]] hid_t raw() const noexcept { return raw_; }
  [[nodiscard]] bool is_valid() const noexcept { return raw_ >= 0; }
  [[nodiscard]] hid_t release() noexcept { return std::exchange(raw_, H5I_INVALID_HID); }

 private:
  hid_t raw_ = H5I_INVALID_HID;
};

using PropertyList = Identifier<H5Pclose>;
using Dataspace = Identifier<H5Sclose>;
using Datatype = Identifier<H5Tclose>;

}  // namespace iocomp::hdf5
