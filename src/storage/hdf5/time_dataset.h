#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "array/box.h"
#include "storage/format.h"
#include "storage/hdf5/handle.h"
#include "storage/variable.h"

namespace iocomp::storage::h5 {

/// Of a variable in a file with `layout = "time"`: "/u".
[[nodiscard]] std::string time_dataset_name(const Variable& variable);

/// The chunk of such a dataset, time first: a whole record, cut along its slowest dimensions to
/// `most_bytes`; several steps where a record has less than a page.
[[nodiscard]] std::vector<std::int64_t> time_chunk(const Variable& variable,
                                                   std::int64_t most_bytes);

/// A dataset whose first dimension, time, grows by a record per step. All calls that change it are
/// collective over the writers.
class TimeDataset {
 public:
  /// Make it, without records.
  /// @throws Error{storage_failure}.
  TimeDataset(hid_t file, const Variable& variable, const FormatOptions& options, std::string path);

  [[nodiscard]] const Variable& variable() const noexcept { return variable_; }
  [[nodiscard]] std::int64_t records() const noexcept { return records_; }
  [[nodiscard]] hid_t raw() const noexcept { return dataset_.raw(); }
  /// Whether chunks go through a filter: such a dataset is written collectively only. Records
  /// smaller than a page do not.
  [[nodiscard]] bool is_filtered() const noexcept { return is_filtered_; }
  /// What a file grows by, at most, with this many records, not counting metadata.
  [[nodiscard]] std::int64_t bytes_to(std::int64_t records, std::int64_t alignment) const;
  void grow_to(std::int64_t records);

  /// The elements of boxes of one record; none: none of them.
  [[nodiscard]] Space select(std::int64_t record, const std::vector<array::Box>& boxes) const;
  /// Write them, packed in the order of the file.
  void write(const Space& selected, std::int64_t elements, const std::byte* bytes, bool together);

 private:
  Variable variable_;
  std::string path_;
  std::vector<std::int64_t> chunk_;
  bool is_filtered_ = false;
  Type type_;
  Dataset dataset_;
  std::int64_t records_ = 0;
};

}  // namespace iocomp::storage::h5
