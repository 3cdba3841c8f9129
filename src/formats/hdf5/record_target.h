#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "formats/format.h"
#include "formats/hdf5/record_file.h"

namespace iocomp::formats::h5 {

/// Records without compression: anybody writes them at the offsets that `place` returns, the lead
/// alone has the file open in HDF5.
class RecordTarget : public PlainTarget {
 public:
  explicit RecordTarget(std::unique_ptr<RecordFile> file) : file_{std::move(file)} {}

  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Catalogue& /*defined*/) override {
    return file_->place(variable, step);
  }
  void flush() override { file_->flush(); }
  void finish(const Description& description) override { file_->finish(description); }

 private:
  std::unique_ptr<RecordFile> file_;
};

}  // namespace iocomp::formats::h5
