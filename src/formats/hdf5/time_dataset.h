#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// Of a variable in a file with `layout = "time"`: "/u".
[[nodiscard]] std::string time_dataset_name(const Variable& variable);

/// Bytes of a file.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// What a dataset has in front of the dimensions of its variable.
enum class Time {
  grows,  ///< a dimension without limit: the steps
  one,    ///< a dimension of length 1, for the one step of the file
  none,   ///< nothing, in a file of one step
};

/// A dataset in chunks, with a record for each step. HDF5 writes none of its data, and hears of its
/// chunks at the end, of those that are worth something: what a step left behind that failed is in
/// no chunk, and reads as the fill value.
class TimeDataset {
 public:
  /// Make it. Where time grows it has no records yet.
  /// @pre time grows, or the variable's chunks go through filters.
  /// @param type  of the elements in the file, where those of memory are alike.
  /// @param create  what else the dataset shall have.
  /// @throws Error{storage_failure}.
  TimeDataset(BufferedFile& file, const Variable& variable, const FormatOptions& options,
              const Type& type, const Properties& create, Time time = Time::grows);

  [[nodiscard]] hid_t raw() const noexcept { return dataset_.raw(); }

  /// Room for a record.
  /// @return the offset of its first byte; the others follow. -1 where it goes through filters.
  std::int64_t place(std::int64_t step);
  /// Where the chunks of a record are that went through filters, in their order.
  void keep(std::int64_t step, std::vector<Extent> chunks);

  /// Tell HDF5 of the records of these steps, of so many that a dataset has that grows. The others
  /// hold the fill value. @throws Error{storage_failure}.
  void finish(const std::set<std::int64_t>& steps, std::int64_t records);

 private:
  void note(std::int64_t first_step, const std::vector<Extent>& chunks);
  void fill_others(std::int64_t first_step, std::int64_t offset,
                   const std::set<std::int64_t>& steps);

  BufferedFile& file_;
  Variable variable_;
  TimeChunks chunks_;
  Time time_;
  Dataset dataset_;
  std::map<std::int64_t, std::int64_t> offsets_;  // of chunks of several steps, or of records, by
                                                  // their first step
  std::map<std::int64_t, std::vector<Extent>> filtered_;  // by step
};

/// One element of what a variable holds where nobody puts anything.
[[nodiscard]] std::vector<std::byte> fill_bytes(const Variable& variable);

}  // namespace iocomp::formats::h5
