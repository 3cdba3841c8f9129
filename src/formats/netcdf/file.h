#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/cdf/dimensions.h"
#include "formats/format.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/record_file.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/netcdf/dimension_scales.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// A NetCDF-4 file is an HDF5 file in which dimensions are datasets of their own.
///
/// Datasets are made when their variables are first put; dimensions at the end, when it is known
/// which of them have a variable of their name.
class NetcdfFile : public h5::RecordFile {
 public:
  NetcdfFile(std::string path, const FormatOptions& options);

  std::int64_t place(const Variable& variable, std::int64_t step) override;
  void keep(const Variable& variable, std::int64_t step, std::vector<h5::Extent> chunks) override;
  void finish(const Description& description) override;

 private:
  struct Defined {
    Variable variable;
    Dimensions dimensions;
    std::unique_ptr<h5::TimeDataset> records;  // where it has one per step, or is compressed
    h5::Dataset once;                          // where not
    std::int64_t placed_in = -1;               // the one step of a variable without time
    std::int64_t offset = -1;
    [[nodiscard]] hid_t dataset() const { return records ? records->raw() : once.raw(); }
  };
  /// Whether it has a record for each step of a file of all steps.
  [[nodiscard]] bool grows(const Defined& defined) const {
    return defined.dimensions.has_time && !one_step_;
  }
  [[nodiscard]] std::int64_t record_of(std::int64_t step) const { return one_step_ ? 0 : step; }
  Defined& define(const Variable& variable);
  void create_once(Defined& defined);
  void finish_records(const Description& description);
  void remove_what_nobody_put(const Description& description);
  [[nodiscard]] std::vector<Scaled> with_dimensions() const;

  FormatOptions options_;
  bool one_step_;
  DimensionTable table_;
  std::map<int, Defined> defined_;  // by id of the variable
  std::int64_t records_ = 0;        // of the file, at the end
};

}  // namespace iocomp::formats::cdf
