// SPDX-License-Identifier: BSD-3-Clause
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
                     const contents::Known& /*known*/) override {
    return file_->place(variable, step);
  }
  Switch commit(const Description& description, std::int64_t from) override {
    return file_->commit(description, from);
  }
  void is_visible() override { file_->is_visible(); }
  Switch finish(const Description& description, std::int64_t from) override {
    return file_->finish(description, from);
  }

 private:
  std::unique_ptr<RecordFile> file_;
};

}  // namespace iocomp::formats::h5
