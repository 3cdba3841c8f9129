// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/path.h"
#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/edition.h"
#include "formats/hdf5/metadata_room.h"
#include "formats/hdf5/object_header.h"
#include "formats/hdf5/rooms.h"
#include "formats/hdf5/step_links.h"

namespace iocomp::formats::h5 {

/// `layout = "steps"`: the lead alone has the file open in HDF5, for the metadata; anybody writes
/// the data, at the offsets that `place` returns, through other descriptors. HDF5 makes the group
/// of a step when it is committed, and iocomp links it.
class StepsTarget : public PlainTarget {
 public:
  StepsTarget(const Path& path, const FormatOptions& options);

  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Known& known) override;
  Switch commit(const Description& description, std::int64_t from) override;
  void is_visible() override {
    editions_.turn();
    file_.is_visible();
  }
  Switch finish(const Description& description, std::int64_t from) override;

 private:
  void find_earlier(const FormatOptions& options);
  void add_steps(const Description& description);
  void describe_root(Attributes attributes);
  [[nodiscard]] Switch write(const Description& description, std::int64_t from, bool is_last);

  BufferedFile file_;
  MetadataRoom room_{file_};
  DatasetNames names_;
  Creation creation_;
  StepLinks links_{room_};
  Editions editions_;
  Attributes earlier_;               // of the file, where nothing else is said now
  Attributes attributes_;            // of the file, as ...
  std::vector<HeaderMessage> root_;  // ... these messages tell them, with what a group has
  Rooms placed_;
};

}  // namespace iocomp::formats::h5
