// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <utility>

namespace iocomp::hdf5 {

/// Make a call that may fail. HDF5 prints nothing, and says nothing of it when a later call fails.
template <typename Call>
void without_notes(Call&& call) {
  H5E_BEGIN_TRY { std::forward<Call>(call)(); }
  H5E_END_TRY
  H5Eclear2(H5E_DEFAULT);
}

/// Keeps what HDF5 says of the first call that fails, and says it again at its own end: each call
/// of HDF5 clears what was said before, those that close an identifier too.
class ErrorStack {
 public:
  ErrorStack() = default;
  ErrorStack(const ErrorStack&) = delete;
  ErrorStack& operator=(const ErrorStack&) = delete;
  ~ErrorStack() {
    if (stack_ >= 0) {
      H5Eset_current_stack(stack_);  // closes it, too
    }
  }

  /// The result of a call that has just returned.
  herr_t after(herr_t result) {
    keep_if(result < 0);
    return result;
  }
  /// The object that a call has just made or opened; null if it failed.
  void* after(void* object) {
    keep_if(object == nullptr);
    return object;
  }

 private:
  void keep_if(bool has_failed) {
    if (has_failed && stack_ < 0) {
      stack_ = H5Eget_current_stack();
    }
  }

  hid_t stack_ = H5I_INVALID_HID;
};

}  // namespace iocomp::hdf5
