// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/chunk_index.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// The dimension that a dataset has before those of its variable.
enum class Time {
  grows,  ///< a dimension without limit: the steps
  one,    ///< a dimension of length 1, for the one step of the file
  none,   ///< nothing, in a file of one step
};

/// A dataset in chunks, with a record for each step. HDF5 writes none of its data and knows none of
/// its chunks: what a step left behind that failed is in no chunk, and reads as the fill value.
class TimeDataset {
 public:
  /// @pre time grows, or the variable's chunks go through filters.
  TimeDataset(BufferedFile& file, const Variable& variable, const FormatOptions& options,
              Time time = Time::grows);

  /// Have HDF5 make it, below a group. Its extent along time, and the place of its index, are told
  /// to its header later.
  /// @param type  of the elements in the file, where those of memory are alike.
  /// @param create  what else the dataset shall have.
  /// @throws Error{storage_failure}.
  [[nodiscard]] Dataset make(hid_t group, const std::string& name, const Type& type,
                             const Properties& create) const;

  /// Go on behind the records of the steps of earlier jobs that the options keep. Before any other
  /// call. @throws Error{unsupported} where that has another type, shape, other chunks or filters.
  void go_on(const EarlierDataset& earlier, const FormatOptions& options);

  /// Room for a record.
  /// @return the offset of its first byte; the others follow. -1 where it goes through filters.
  std::int64_t place(std::int64_t step);
  /// Take note of the filtered chunks of a record, in their order.
  void keep(std::int64_t step, std::vector<Extent> chunks);

  /// Tell which of the steps from `from` on that have room have a record. Those of the others that
  /// come before `until` hold the fill value.
  /// @throws Error{storage_failure}.
  void tell(const std::set<std::int64_t>& steps, std::int64_t from, std::int64_t until = 0);
  /// No step comes any more, behind so many records: room that no step needs is given back.
  void end(std::int64_t records);
  /// The number of records: those up to the last step that has one.
  [[nodiscard]] std::int64_t records() const noexcept {
    return steps_.empty() ? 0 : *steps_.rbegin() + 1;
  }
  [[nodiscard]] bool grows() const noexcept { return time_ == Time::grows; }
  [[nodiscard]] ChunkIndex& index() noexcept { return index_; }
  /// The end of the last chunk in the index.
  [[nodiscard]] std::int64_t chunks_end() const noexcept { return chunks_end_; }

 private:
  [[nodiscard]] std::int64_t chunk_of(std::int64_t step) const noexcept {
    return step - step % chunks_.steps;
  }
  [[nodiscard]] bool has_room(std::int64_t step) const {
    return variable_.bytes() == 0 ||
           (chunks_.is_filtered ? filtered_.contains(step) : offsets_.contains(chunk_of(step)));
  }
  [[nodiscard]] bool is_filtered_like(const Filters& earlier, const FormatOptions& options) const;
  void take_over(const EarlierDataset& earlier, std::int64_t steps);
  void copy_last_chunk(std::int64_t kept);
  void add(std::int64_t step);
  void note(std::int64_t first_step, const std::vector<Extent>& chunks);
  void fill(std::int64_t from, std::int64_t until);

  BufferedFile& file_;
  Variable variable_;
  bool has_strings_;
  TimeChunks chunks_;
  Time time_;
  ChunkIndex index_;
  std::int64_t chunks_end_ = 0;
  std::set<std::int64_t> steps_;                  // that have a record
  std::map<std::int64_t, std::int64_t> offsets_;  // of chunks of several steps, or of records, by
                                                  // their first step
  std::map<std::int64_t, std::vector<Extent>> filtered_;  // by step
};

}  // namespace iocomp::formats::h5
