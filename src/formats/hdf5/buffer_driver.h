// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>

#include "formats/hdf5/metadata_buffer.h"

namespace iocomp::formats::h5 {

/// Have HDF5 write a file through a MetadataBuffer, which outlives the file. HDF5 does not survive
/// a write that fails, not even by abandoning the file: so its writes go to memory, and whoever
/// owns the buffer stores them. Raw data, each by themselves, and blocks of metadata begin at
/// multiples of `alignment_bytes`.
/// @param first_byte  where everything but the superblock goes: behind what is in the file.
/// @return as other functions of HDF5: negative after a failure.
[[nodiscard]] herr_t use_buffer(hid_t file_access, MetadataBuffer& buffer,
                                std::int64_t alignment_bytes, std::int64_t first_byte = 0);

/// Room in such a file for data that HDF5 does not write.
/// @return its offset, a multiple of the alignment.
[[nodiscard]] std::int64_t allot(hid_t file, std::int64_t bytes);
/// The same for metadata, which no dataset counts.
[[nodiscard]] std::int64_t allot_metadata(hid_t file, std::int64_t bytes);
/// The same for metadata that are not known yet, of the steps whose data are allotted next. Else
/// they would lie behind room for a step that perhaps never comes.
void keep_room_for_metadata(hid_t file);
/// The end of everything that was allotted.
[[nodiscard]] std::int64_t end_of_file(hid_t file);
/// The end of the metadata that were allotted, those of HDF5 itself included.
[[nodiscard]] std::int64_t metadata_end(hid_t file);
/// The offset that `allot` would return.
[[nodiscard]] std::int64_t next_allotted(hid_t file);

/// While it lives, HDF5 puts data of datasets that it makes at an offset that was allotted.
class PlacedAt {
 public:
  PlacedAt(hid_t file, std::int64_t offset);
  PlacedAt(const PlacedAt&) = delete;
  PlacedAt& operator=(const PlacedAt&) = delete;
  ~PlacedAt();

 private:
  haddr_t& placed_at_;
};

}  // namespace iocomp::formats::h5
