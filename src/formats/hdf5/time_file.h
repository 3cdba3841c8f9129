#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// What one process knows of a file with `layout = "time"`: its datasets, and where in it data lie
/// that anybody writes. Variables are added as they come; those without elements have no dataset.
class TimeFile {
 public:
  /// @throws Error{storage_failure}, as all that follow.
  TimeFile(std::string path, const FormatOptions& options)
      : options_{options}, file_{std::move(path), options} {}

  [[nodiscard]] TimeDataset& dataset(const Variable& variable);
  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }

  /// Where what is allotted next will begin.
  [[nodiscard]] std::int64_t end() const;
  /// Everything up to here is taken.
  void extend(std::int64_t end);

  void flush() { file_.flush(); }
  void finish(const Description& description);

 private:
  FormatOptions options_;
  BufferedFile file_;
  std::map<int, std::unique_ptr<TimeDataset>> datasets_;  // by id of the variable
};

}  // namespace iocomp::formats::h5
