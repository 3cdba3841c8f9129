#pragma once

#include <hdf5.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "formats/format.h"
#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {

/// Where a variable lies in the file: "/3/u".
[[nodiscard]] std::string dataset_name(const Variable& variable, std::int64_t step);

/// What all targets want of a file: aligned data, a format that HDF5 1.8 and later read,
/// no object left open by closing it. The driver is the caller's.
[[nodiscard]] Properties file_access(const FormatOptions& options);

/// Of a contiguous dataset whose room in the file is allotted now and never filled: others write
/// it.
void let_others_write(const Properties& create);

/// Makes contiguous datasets whose room in the file is allotted now and never filled, with the
/// groups above them.
class Creation {
 public:
  Creation();
  /// @throws Error{storage_failure}.
  [[nodiscard]] Dataset dataset(hid_t file, const Variable& variable, std::int64_t step,
                                const std::string& path);
  /// Hold nothing of the file open. Call it before the file is closed, or a step unlinked.
  void close_group() noexcept {
    group_ = Object{};
    step_ = -1;
  }

 private:
  Properties link_;
  Properties create_;
  Object group_;
  std::int64_t step_ = -1;
};

/// Remove a link, a dataset's or a group's.
/// @throws Error{storage_failure}.
void unlink(hid_t file, const std::string& name, const std::string& path);

/// The variables of each step that have a dataset: (step, name).
using Datasets = std::set<std::pair<std::int64_t, std::string>>;

/// Write all attributes, and unlink the datasets that the description does not have: those of
/// absent steps.
/// @throws Error{storage_failure}.
void describe(hid_t file, const Description& description, const Datasets& created,
              const std::string& path);

}  // namespace iocomp::formats::h5
