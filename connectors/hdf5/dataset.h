// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <memory>
#include <span>

#include "hdf5/identifier.h"
#include "hdf5/layout.h"
#include "hdf5/output.h"
#include "hdf5/writer.h"

namespace iocomp::hdf5 {

/// An open dataset whose values this process can write at their place in the file.
class Dataset {
 public:
  /// What one call wants to write, as HDF5 hands it on: H5S_ALL, H5S_BLOCK and identifiers.
  struct Request {
    hid_t memory_type;
    hid_t memory_space;
    hid_t file_space;
    hid_t transfer_list;
    const void* memory;
  };

  /// Look at a dataset of this file. Null for one that is left to HDF5: that depends on the file
  /// alone, so all ranks decide alike.
  /// @param allows_chunks  see layout_of.
  [[nodiscard]] static std::unique_ptr<Dataset> look_at(void* dataset,
                                                        std::shared_ptr<Output> output,
                                                        bool allows_chunks);

  [[nodiscard]] Output& output() const noexcept { return *output_; }
  [[nodiscard]] const std::shared_ptr<Output>& shared_output() const noexcept { return output_; }

  /// Copy the values; they are written while the program goes on. False where this process has to
  /// leave the call to HDF5, which then writes all of its values.
  [[nodiscard]] bool write(const Request& request, Writer& writer);

  /// From now on everything is left to HDF5: the place of the values may go at any time.
  void leave_to_hdf5() noexcept { is_left_ = true; }
  /// Places of values may have changed.
  void forget_places() { layout_->forget(); }
  /// Whether this extent leaves out elements that the dataset has.
  [[nodiscard]] bool shrinks_to(const hsize_t* extent) const;

 private:
  Dataset(void* dataset, std::shared_ptr<Output> output, Datatype type, std::size_t element_bytes,
          std::unique_ptr<Layout> layout);
  [[nodiscard]] bool copy(const Request& request, hid_t file_space, std::uint64_t bytes,
                          Writer& writer);

  void* dataset_;
  std::shared_ptr<Output> output_;
  Datatype type_;
  std::size_t element_bytes_;
  std::unique_ptr<Layout> layout_;
  bool is_left_ = false;
};

}  // namespace iocomp::hdf5
