// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/metadata_room.h"

#include <algorithm>
#include <cstdint>

#include "formats/hdf5/buffer_driver.h"

namespace iocomp::formats::h5 {

std::int64_t MetadataRoom::take(std::int64_t bytes) {
  constexpr std::int64_t block_bytes = std::int64_t{64} << 10;
  const std::int64_t rounded = (bytes + 7) / 8 * 8;
  if (end_ - next_ < rounded) {
    const std::int64_t block = std::max(rounded, block_bytes);
    next_ = allot_metadata(file_.raw(), block);
    end_ = next_ + block;
  }
  const std::int64_t taken = next_;
  next_ += rounded;
  return taken;
}

}  // namespace iocomp::formats::h5
