// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/dataset.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// `layout = "flat"`: the file has one step, and its datasets are at the root. HDF5 makes a new
/// root with each commit: what readers have seen is never changed.
class FlatTarget : public BufferedFile {
 public:
  using BufferedFile::BufferedFile;

  void is_visible() override {
    is_seen_ = true;
    BufferedFile::is_visible();
  }

 private:
  std::int64_t find_place(const Variable& variable, std::int64_t /*step*/) override {
    return creation_.place(raw(), variable, path());
  }
  std::optional<Root> write_root(const Description& description, std::int64_t from,
                                 bool is_last) override;

  /// The attributes that a root tells beside its datasets.
  struct Told {
    Attributes attributes;
    std::vector<Attributes> of_variable;
    friend bool operator==(const Told&, const Told&) = default;
  };

  Creation creation_;
  std::vector<Placed> contents_;
  Told told_;
  bool is_seen_ = false;  // it is in the file
};

}  // namespace iocomp::formats::h5
