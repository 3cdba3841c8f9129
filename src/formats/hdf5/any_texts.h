// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <span>
#include <string>
#include <vector>

#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {

/// Texts of any length as HDF5 hands them out, freed with this.
class AnyTexts {
 public:
  /// @param texts  their number. @throws Error{storage_failure}.
  AnyTexts(hid_t dataset, hid_t in_file, hsize_t texts, const std::string& path);
  AnyTexts(const AnyTexts&) = delete;
  AnyTexts& operator=(const AnyTexts&) = delete;
  ~AnyTexts();

  [[nodiscard]] std::span<char* const> texts() const noexcept { return texts_; }

 private:
  Type type_;
  Space in_memory_;
  std::vector<char*> texts_;
};

}  // namespace iocomp::formats::h5
