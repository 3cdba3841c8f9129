// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <string>

namespace iocomp::formats::h5 {

/// Keeps HDF5 from printing its errors while it lives; what the application has set is restored
/// afterwards.
class Quiet {
 public:
  Quiet() noexcept;
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet();

 private:
  H5E_auto2_t print_ = nullptr;
  void* argument_ = nullptr;
};

/// @throws Error{storage_failure} "cannot ACTION PATH: HDF5: ..." with the whole error stack.
[[noreturn]] void fail(const std::string& action, const std::string& path);

/// An identifier or a return code, if it is none of failure (negative).
/// @throws as `fail`.
template <typename Result>
Result check(Result result, const std::string& action, const std::string& path) {
  if (result < 0) {
    fail(action, path);
  }
  return result;
}

}  // namespace iocomp::formats::h5
