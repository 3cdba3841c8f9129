// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/flat_target.h"

#include <hdf5.h>

#include <cstdint>
#include <vector>

#include "formats/format.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {

std::int64_t FlatTarget::place(const Variable& variable, std::int64_t step,
                               const contents::Known& /*known*/) {
  keep_room_for_metadata(file_.raw());
  names_.add(variable.name, file_.path());
  const std::int64_t offset = variable.bytes() == 0 ? -1 : allot(file_.raw(), variable.bytes());
  placed_.add(variable, step, offset);
  return offset;
}

Switch FlatTarget::commit(const Description& description, std::int64_t from) {
  return write(description, from, placed_.end_with(description, from));
}

Switch FlatTarget::write(const Description& description, std::int64_t from, bool is_last) {
  const Quiet quiet;
  std::erase_if(contents_, [from](const Placed& placed) { return placed.step >= from; });
  contents_.insert(contents_.end(), description.contents.begin(), description.contents.end());
  is_seen_ = false;
  told_ = {description.attributes, description.of_variable};
  const Object root = make_group(file_.raw(), H5P_DEFAULT, file_.path());
  creation_.datasets(file_.raw(), root.raw(), contents_, told_.of_variable, file_.path());
  write_attributes(root.raw(), told_.attributes, file_.path());
  file_.flush();
  const std::int64_t end = end_of(contents_);
  return file_.store(address_of(root.raw(), file_.path()), end, end, is_last);
}

Switch FlatTarget::finish(const Description& description, std::int64_t from) {
  const bool has_new_contents =
      !description.contents.empty() || (!contents_.empty() && contents_.back().step >= from);
  const bool is_told = is_seen_ && !has_new_contents &&
                       told_ == Told{description.attributes, description.of_variable};
  Switch last;
  if (is_told) {
    file_.trim();
  } else {
    last = write(description, from, true);
  }
  file_.close();
  return last;
}

}  // namespace iocomp::formats::h5
