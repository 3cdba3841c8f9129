// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "base/error.h"
#include "hdf5/native.h"
#include "hdf5/output.h"

namespace iocomp::hdf5 {

/// A dataset that the program has opened. HDF5 keeps it open until nothing of it is on its way,
/// also when the program has closed it.
class OpenDataset {
 public:
  OpenDataset(void* dataset, const native::Token& token, std::shared_ptr<Output> output) noexcept
      : dataset_{dataset}, token_{token}, output_{std::move(output)} {}
  OpenDataset(const OpenDataset&) = delete;
  OpenDataset& operator=(const OpenDataset&) = delete;
  ~OpenDataset() {
    if (is_closed_) {
      output_->note(native::close_dataset(dataset_));
    }
  }

  [[nodiscard]] void* native() const noexcept { return dataset_; }
  /// The identity of the dataset, however often it is open.
  [[nodiscard]] const native::Token& token() const noexcept { return token_; }
  /// Its file.
  [[nodiscard]] const std::shared_ptr<Output>& output() const noexcept { return output_; }
  /// The program has closed it, and HDF5 has not: it is closed with this.
  void close_later() noexcept { is_closed_ = true; }

 private:
  void* dataset_;
  native::Token token_;
  std::shared_ptr<Output> output_;
  bool is_closed_ = false;
};

}  // namespace iocomp::hdf5
