#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/variable.h"

namespace iocomp::storage::h5 {

/// Where the records of a dataset lie that grows along its first dimension, time: each is one piece
/// of the file, in the order of its elements, so that anybody can write it. Room is made here; HDF5
/// takes note of it afterwards. For a file that is open through a buffer.
class Records {
 public:
  /// A chunk is a record, cut along its slowest dimensions to `most_bytes`; records of less than a
  /// page share one.
  Records(const Variable& variable, std::int64_t most_bytes);

  /// Time first.
  [[nodiscard]] const std::vector<std::int64_t>& chunk() const noexcept { return chunk_; }

  /// Make room for a record, if there is none.
  /// @return its offset in the file.
  std::int64_t place(hid_t file, std::int64_t record);
  /// Of a record that has room; -1: it has none.
  [[nodiscard]] std::int64_t offset(std::int64_t record) const;

  /// Have HDF5 take note of chunks that cannot change any more: not the last one of several
  /// records. The dataset grows with it.
  /// @throws Error{storage_failure}.
  void note(hid_t file, hid_t dataset, const std::string& path);
  /// The same of all chunks at the end, of which the first `records` are kept: the dataset has as
  /// many, whether they have room or not.
  void note_all(hid_t file, hid_t dataset, std::int64_t records, const std::string& path);

 private:
  void note_group(hid_t file, hid_t dataset, std::int64_t group, const std::string& path);
  void grow(hid_t dataset, std::int64_t records, const std::string& path);

  Variable variable_;
  std::vector<std::int64_t> chunk_;
  std::int64_t record_bytes_;
  std::int64_t chunk_bytes_;
  std::map<std::int64_t, std::int64_t>
      groups_;                         // offset of chunk_[0] records, by first / chunk_[0]
  std::vector<std::int64_t> to_note_;  // groups that HDF5 does not know
  std::int64_t extent_ = 0;            // of the dataset
};

}  // namespace iocomp::storage::h5
