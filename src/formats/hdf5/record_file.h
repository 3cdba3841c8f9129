#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// What one process knows of an HDF5 file whose variables have a record for each step: their
/// datasets, and where in the file data lie that anybody writes. Variables are added as they come.
class RecordFile {
 public:
  /// @param creation  the properties of the file; none: the usual ones.
  /// @throws Error{storage_failure}, as all that follow.
  RecordFile(std::string path, const FormatOptions& options, const Properties& creation = {})
      : file_{std::move(path), options, creation} {}
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  virtual ~RecordFile() = default;

  /// Room for a variable in a step.
  /// @return the offset of its first byte; -1 where it has no bytes, and where its chunks go
  /// through filters: then `keep` is told where they are.
  virtual std::int64_t place(const Variable& variable, std::int64_t step) = 0;
  virtual void keep(const Variable& variable, std::int64_t step, std::vector<Extent> chunks) = 0;
  /// Describe what was put, and close the file. Called once.
  virtual void finish(const Description& description) = 0;

  /// Where what is allotted next will begin.
  [[nodiscard]] std::int64_t end() const;
  /// Everything up to here is taken.
  void extend(std::int64_t end);
  void flush() { file_.flush(); }

 protected:
  [[nodiscard]] BufferedFile& file() noexcept { return file_; }

 private:
  BufferedFile file_;
};

}  // namespace iocomp::formats::h5
