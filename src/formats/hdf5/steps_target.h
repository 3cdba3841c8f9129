#pragma once

#include <cstdint>
#include <string>

#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/dataset.h"

namespace iocomp::formats::h5 {

/// `layout = "steps"`: the lead alone has the file open in HDF5, for the metadata; anybody writes
/// the data, at the offsets that `place` returns, through other descriptors. HDF5 keeps no data of
/// its own, so neither disturbs the other.
class StepsTarget : public PlainTarget {
 public:
  StepsTarget(std::string path, const FormatOptions& options);

  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Catalogue& defined) override;
  void flush() override { file_.flush(); }
  void finish(const Description& description) override;

 private:
  BufferedFile file_;
  Creation creation_;
  Datasets created_;
};

}  // namespace iocomp::formats::h5
