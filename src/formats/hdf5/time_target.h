#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "formats/format.h"
#include "formats/hdf5/time_file.h"

namespace iocomp::formats::h5 {

/// `layout = "time"` without compression: each variable is one chunked dataset that grows with the
/// steps, and the chunks of a record follow one another in the file, so that anybody writes records
/// at the offsets that `place` returns.
class TimeTarget : public PlainTarget {
 public:
  TimeTarget(std::string path, const FormatOptions& options) : file_{std::move(path), options} {}

  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Catalogue& /*defined*/) override {
    return variable.bytes() == 0 ? -1 : file_.dataset(variable).place(step);
  }
  void flush() override { file_.flush(); }
  void finish(const Description& description) override { file_.finish(description); }

 private:
  TimeFile file_;
};

}  // namespace iocomp::formats::h5
