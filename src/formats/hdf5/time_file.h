// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/path.h"
#include "formats/format.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/hdf5/record_file.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// The contents of a file with `layout = "time"` at the moment when a job goes on with it.
struct EarlierRecords {
  /// @throws Error{storage_failure}.
  EarlierRecords(const Descriptor& opened, const std::string& path);

  std::map<std::string, EarlierDataset> datasets;  ///< by name
  Attributes attributes;                           ///< of the file
  std::map<std::string, Attributes> of_variable;   ///< by name
};

/// `layout = "time"`: each variable is one chunked dataset that grows with the steps, and the
/// chunks of a record follow one another in the file. Those without elements have no dataset.
class TimeFile : public RecordFile {
 public:
  TimeFile(const Path& path, const FormatOptions& options)
      : RecordFile{path, options}, options_{options} {
    if (options.earlier_steps >= 0) {
      earlier_.emplace(plain(), this->path());
    }
  }

  void keep(const Variable& variable, std::int64_t step, std::vector<Extent> chunks) override;

 private:
  struct Defined {
    Variable variable;
    std::unique_ptr<TimeDataset> records;
  };
  std::int64_t find_place(const Variable& variable, std::int64_t step) override;
  [[nodiscard]] TimeDataset& dataset(const Variable& variable);
  std::vector<int> take_note(const Description& description, std::int64_t from) override;
  void end_datasets() override;
  [[nodiscard]] std::int64_t records(const TimeDataset* dataset) const override {
    return dataset->records();
  }
  [[nodiscard]] std::vector<Made> make(hid_t root, const Told& told) override;

  void keep_what_is_not_put();

  FormatOptions options_;
  std::optional<EarlierRecords> earlier_;
  bool is_kept_ = false;  // what earlier jobs have written and this one has not put
  DatasetNames names_;
  std::map<int, Defined> datasets_;  // by id of the variable; below 0: of earlier jobs alone
};

}  // namespace iocomp::formats::h5
