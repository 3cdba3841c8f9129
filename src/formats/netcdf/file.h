// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "contents/dimensions.h"
#include "formats/extent.h"
#include "formats/format.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/record_file.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/netcdf/dimension_scales.h"
#include "formats/netcdf/earlier_variables.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// A NetCDF-4 file is an HDF5 file in which dimensions are datasets of their own: made with the
/// variables, when it is known which of them have the name of a dimension.
///
/// One that goes on keeps all variables of earlier jobs. Those with time get more records, or fill
/// values where this job does not put them. One without time stays as it is until this job puts it
/// again, to another place.
class NetcdfFile : public h5::RecordFile {
 public:
  NetcdfFile(const Path& path, const FormatOptions& options);

  void keep(const Variable& variable, std::int64_t step, std::vector<Extent> chunks) override;

 private:
  struct Defined {
    Variable variable;
    contents::Dimensions dimensions;
    std::unique_ptr<h5::TimeDataset> records;  // where it has one per step, or is compressed
    std::int64_t offset = -1;                  // where not
    std::int64_t placed_in = -1;               // the one step of a variable without time
    std::int64_t put_in = -1;                  // the first step that has it
  };

  std::int64_t find_place(const Variable& variable, std::int64_t step) override;
  /// True if a variable has a record for each step of a file of all steps.
  [[nodiscard]] bool grows(const Defined& defined) const {
    return defined.dimensions.has_time && !one_step_;
  }
  [[nodiscard]] std::int64_t record_of(std::int64_t step) const { return one_step_ ? 0 : step; }
  void go_on(const EarlierVariable& earlier, int number);
  void check_that_it_goes_on(const Defined& earlier, const Variable& variable);
  [[nodiscard]] int number_of(const Variable& variable);
  Defined& defined(const Variable& variable);
  Defined& define(const Variable& variable);
  [[nodiscard]] std::unique_ptr<h5::TimeDataset> records_of(const Defined& defined);
  [[nodiscard]] h5::Dataset make_once(hid_t root, const std::string& name, const Defined& defined);
  [[nodiscard]] std::vector<Scaled::Dimension> dimensions(const Defined& defined) const;
  void write_attributes_of(hid_t dataset, const Variable& variable, const Told& told);

  std::vector<int> take_note(const Description& description, std::int64_t from) override;
  void end_datasets() override;
  [[nodiscard]] std::int64_t records(const h5::TimeDataset* /*dataset*/) const override {
    return records_;
  }
  [[nodiscard]] h5::Properties of_root() const override;
  [[nodiscard]] std::vector<Made> make(hid_t root, const Told& told) override;

  FormatOptions options_;
  bool one_step_;
  contents::DimensionTable table_;
  std::map<int, Defined> defined_;  // by id of the variable; negative: those of earlier jobs
  std::optional<EarlierVariables> earlier_;
  std::map<std::string, int> of_earlier_;  // their numbers
  std::int64_t records_ = 0;
};

}  // namespace iocomp::formats::cdf
