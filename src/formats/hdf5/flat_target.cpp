// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/flat_target.h"

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {

std::optional<BufferedFile::Root> FlatTarget::write_root(const Description& description,
                                                         std::int64_t from, bool is_last) {
  Told told{description.attributes, description.of_variable};
  const bool has_new_contents =
      !description.contents.empty() || (!contents_.empty() && contents_.back().step >= from);
  if (is_last && is_seen_ && !has_new_contents && told == told_) {
    return {};
  }
  std::erase_if(contents_, [from](const Placed& placed) { return placed.step >= from; });
  contents_.insert(contents_.end(), description.contents.begin(), description.contents.end());
  is_seen_ = false;
  told_ = std::move(told);
  const Object root = make_group(raw(), H5P_DEFAULT, path());
  creation_.datasets(raw(), root.raw(), contents_, told_.of_variable, path());
  write_attributes(root.raw(), told_.attributes, path());
  flush();
  const std::int64_t end = end_of(contents_);
  return Root{address_of(root.raw(), path()), end, end};
}

}  // namespace iocomp::formats::h5
