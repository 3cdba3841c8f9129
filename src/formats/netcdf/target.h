#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "formats/cdf/dimensions.h"
#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/netcdf/dimension_scales.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// A NetCDF-4 file is an HDF5 file in which dimensions are datasets of their own. The
/// lead alone has it open in HDF5, for the metadata; anybody writes the data, at the offsets that
/// `place` returns.
///
/// Datasets are made when their variables are first put; dimensions at the end, when it is known
/// which of them have a variable of their name.
class NetcdfTarget : public PlainTarget {
 public:
  NetcdfTarget(std::string path, const FormatOptions& options);

  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Catalogue& defined) override;
  void flush() override;
  void finish(const Description& description) override;

 private:
  struct Defined {
    Variable variable;
    Dimensions dimensions;
    std::unique_ptr<h5::TimeDataset> records;  // where it has one per step
    h5::Dataset once;                          // where it has not
    std::int64_t placed_in = -1;
    std::int64_t offset = -1;
    [[nodiscard]] hid_t dataset() const { return records ? records->raw() : once.raw(); }
  };
  Defined& define(const Variable& variable);
  void create_once(Defined& defined);
  void finish_records(const Description& description);
  void remove_what_nobody_put(const Description& description);
  [[nodiscard]] std::vector<Scaled> with_dimensions() const;

  FormatOptions options_;
  bool one_step_;
  h5::BufferedFile file_;
  DimensionTable table_;
  std::map<int, Defined> defined_;  // by id of the variable
  std::int64_t records_ = 0;        // of the file, at the end
};

}  // namespace iocomp::formats::cdf
