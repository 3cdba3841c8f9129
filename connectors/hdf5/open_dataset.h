// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hdf5/native.h"

namespace iocomp::hdf5 {

/// A dataset that the program has opened. HDF5 keeps it open until nothing of it is on its way,
/// also when the program has closed it.
class OpenDataset {
 public:
  OpenDataset(void* dataset, const native::Token& token) noexcept
      : dataset_{dataset}, token_{token} {}
  OpenDataset(const OpenDataset&) = delete;
  OpenDataset& operator=(const OpenDataset&) = delete;
  ~OpenDataset() {
    if (is_closed_) {
      native::close_dataset(dataset_);
    }
  }

  [[nodiscard]] void* native() const noexcept { return dataset_; }
  /// The identity of the dataset, however often it is open.
  [[nodiscard]] const native::Token& token() const noexcept { return token_; }
  /// The program has closed it, and HDF5 has not: it is closed with this.
  void close_later() noexcept { is_closed_ = true; }

 private:
  void* dataset_;
  native::Token token_;
  bool is_closed_ = false;
};

}  // namespace iocomp::hdf5
