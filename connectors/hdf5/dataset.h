// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hdf5/event.h"
#include "hdf5/filtered_chunks.h"
#include "hdf5/identifier.h"
#include "hdf5/layout.h"
#include "hdf5/native.h"
#include "hdf5/open_dataset.h"
#include "hdf5/output.h"
#include "hdf5/values.h"
#include "hdf5/writer.h"

namespace iocomp::hdf5 {

/// An open dataset whose values this process can write at their place in the file.
class Dataset {
 public:
  /// The arguments of a call that writes, as HDF5 hands them on: H5S_ALL, H5S_BLOCK and
  /// identifiers.
  struct Request {
    hid_t memory_type;
    hid_t memory_space;
    hid_t file_space;
    hid_t transfer_list;
    bool is_collective;  ///< by the transfer list
    const void* memory;
    std::shared_ptr<Event> event;  ///< null: the memory may change when the call returns
  };

  /// Look at a dataset of this file. Null for one that is left to HDF5: that depends on the file
  /// alone, so all ranks decide alike.
  [[nodiscard]] static std::unique_ptr<Dataset> look_at(void* dataset, const native::Token& token,
                                                        std::shared_ptr<Output> output);

  [[nodiscard]] Output& output() const noexcept { return *open_->output(); }
  [[nodiscard]] const std::shared_ptr<Output>& shared_output() const noexcept {
    return open_->output();
  }

  /// Copy the values; they are written while the program goes on. False where this process has to
  /// leave the call to HDF5, which then writes all of its values.
  [[nodiscard]] bool write(const Request& request, Writer& writer);
  /// The runs in the file that the first part of a call would write. None where this process would
  /// leave the call to HDF5.
  struct Runs {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };
  [[nodiscard]] Runs runs_of(const Request& request, std::uint64_t most_bytes);
  /// The identity of the dataset on all ranks, however often it is open.
  [[nodiscard]] const native::Token& token() const noexcept { return open_->token(); }

  /// Sleep until HDF5 may write into the dataset.
  void finish(Writer& writer) const;
  /// The program closes it. True if HDF5 has to keep it open, because something is on its way.
  [[nodiscard]] bool stays_open();

  /// From now on everything is left to HDF5: the place of the values may go at any time.
  void leave_to_hdf5() noexcept { is_left_ = true; }
  /// Places of values may have changed.
  void forget_places();
  /// Look for places, where ranks have to do so together. Collective over the ranks of the file.
  void look_together();
  /// True if this extent leaves out elements that the dataset has.
  [[nodiscard]] bool shrinks_to(const hsize_t* extent) const;

 private:
  Dataset(void* dataset, const native::Token& token, std::shared_ptr<Output> output)
      : open_{std::make_shared<OpenDataset>(dataset, token, std::move(output))} {}
  /// The selection of a call, with everything needed to write it.
  struct Selected {
    Dataspace whole;
    Datatype type;
    std::vector<hsize_t> extent{};
    hid_t file_space = H5I_INVALID_HID;
    std::uint64_t elements = 0;
  };
  [[nodiscard]] std::optional<Selected> look_at(const Request& request);
  [[nodiscard]] Values values_of(const Request& request, const Selected& selected) const;
  [[nodiscard]] bool write(const Request& request, const Selected& selected, Writer& writer);

  std::shared_ptr<OpenDataset> open_;
  // One of them: elements have places, or chunks have filters.
  std::unique_ptr<Layout> layout_;
  std::unique_ptr<FilteredChunks> chunks_;
  std::size_t element_bytes_ = 0;
  bool is_left_ = false;
};

}  // namespace iocomp::hdf5
