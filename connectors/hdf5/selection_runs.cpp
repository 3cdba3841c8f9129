// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/selection_runs.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/error.h"

namespace iocomp::hdf5 {

SelectionRuns::SelectionRuns(hid_t space, std::size_t element_bytes)
    : iterator_{H5Ssel_iter_create(space, element_bytes, 0)} {
  if (!iterator_.is_valid()) {
    throw Error{ErrorCode::internal, "HDF5 gives no iterator over a selection"};
  }
}

bool SelectionRuns::find_more() {
  if (!iterator_.is_valid()) {
    return false;
  }
  std::size_t elements = 0;
  given_ = 0;
  found_ = 0;
  if (H5Ssel_iter_get_seq_list(iterator_.raw(), runs_at_once,
                               std::numeric_limits<std::size_t>::max(), &found_, &elements,
                               offsets_.data(), lengths_.data()) < 0) {
    throw Error{ErrorCode::internal, "HDF5 does not tell the runs of a selection"};
  }
  return found_ > 0;
}

ByteRun SelectionRuns::next(std::uint64_t most) {
  if (run_.bytes == 0 && (given_ < found_ || find_more())) {
    run_ = {.offset = offsets_[given_], .bytes = lengths_[given_]};
    ++given_;
  }
  const ByteRun next{.offset = run_.offset, .bytes = std::min(run_.bytes, most)};
  run_.offset += next.bytes;
  run_.bytes -= next.bytes;
  return next;
}

}  // namespace iocomp::hdf5
