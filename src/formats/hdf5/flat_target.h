// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/rooms.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// `layout = "flat"`: the file has one step, and its datasets are at the root. As with "steps", the
/// lead writes the metadata, and anybody the data. HDF5 makes a new root with each commit: what
/// readers have seen is never changed.
class FlatTarget : public PlainTarget {
 public:
  FlatTarget(const Path& path, const FormatOptions& options) : file_{path, options} {}

  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Known& known) override;
  Switch commit(const Description& description, std::int64_t from) override;
  void is_visible() override {
    is_seen_ = true;
    file_.is_visible();
  }
  Switch finish(const Description& description, std::int64_t from) override;

 private:
  [[nodiscard]] Switch write(const Description& description, std::int64_t from, bool is_last);

  /// The attributes that a root tells beside its datasets.
  struct Told {
    Attributes attributes;
    std::vector<Attributes> of_variable;
    friend bool operator==(const Told&, const Told&) = default;
  };

  BufferedFile file_;
  DatasetNames names_;
  Creation creation_;
  std::vector<Placed> contents_;
  Told told_;
  bool is_seen_ = false;  // it is in the file
  Rooms placed_;
};

}  // namespace iocomp::formats::h5
