// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <utility>

namespace iocomp::formats::h5 {

/// Owns one identifier of HDF5 and closes it once.
template <herr_t (*close_id)(hid_t)>
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(hid_t raw) noexcept : raw_{raw} {}
  Handle(Handle&& other) noexcept : raw_{std::exchange(other.raw_, H5I_INVALID_HID)} {}
  Handle& operator=(Handle&& other) noexcept {
    Handle taken{std::move(other)};
    std::swap(raw_, taken.raw_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (raw_ >= 0) {
      close_id(raw_);
    }
  }

  [[nodiscard]] hid_t raw() const noexcept { return raw_; }

 private:
  hid_t raw_ = H5I_INVALID_HID;
};

using Attribute = Handle<&H5Aclose>;
using Dataset = Handle<&H5Dclose>;
using File = Handle<&H5Fclose>;
using Object = Handle<&H5Oclose>;
using Properties = Handle<&H5Pclose>;
using Space = Handle<&H5Sclose>;
using Type = Handle<&H5Tclose>;

}  // namespace iocomp::formats::h5
