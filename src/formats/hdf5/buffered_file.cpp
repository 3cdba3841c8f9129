// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/buffered_file.h"

#include <fcntl.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/path.h"
#include "formats/format.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/open_together.h"

namespace iocomp::formats::h5 {
BufferedFile::BufferedFile(const Path& path, const FormatOptions& options, bool others_write)
    : path_{path.text()},
      buffer_{open_physical(path, options.opening(), O_RDWR), superblock_bytes},
      earlier_bytes_{options.earlier_steps < 0 ? 0 : options.earlier_bytes},
      others_write_{others_write} {
  const Quiet quiet;
  const Properties access = file_access(options);
  visible_end_ = options.earlier_steps < 0 ? 0 : end_of_earlier();
  check(use_buffer(access.raw(), buffer_, options.alignment_bytes, visible_end_), "create", path_);
  file_ =
      check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.raw()), "create", path_);
}

// Bytes behind this end were left by an earlier job and are seen by no reader. They stay, since the
// manifest may count them.
std::int64_t BufferedFile::end_of_earlier() const {
  std::array<std::byte, superblock_bytes> bytes{};
  const int error = buffer_.read(0, bytes);
  if (error != 0) {
    throw failure("read", path_, error);
  }
  return end_in_superblock(bytes);
}

BufferedFile::~BufferedFile() {
  if (file_ >= 0) {
    const Quiet quiet;
    H5Fclose(file_);  // into the buffer, and gone with it
  }
}

std::int64_t BufferedFile::take_metadata(std::int64_t bytes) {
  constexpr std::int64_t block_bytes = std::int64_t{64} << 10;
  const std::int64_t rounded = (bytes + 7) / 8 * 8;
  if (end_of_metadata_ - next_metadata_ < rounded) {
    const std::int64_t block = std::max(rounded, block_bytes);
    next_metadata_ = allot_metadata(file_, block);
    end_of_metadata_ = next_metadata_ + block;
  }
  return std::exchange(next_metadata_, next_metadata_ + rounded);
}

void BufferedFile::flush() {
  const Quiet quiet;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_);
}

std::int64_t BufferedFile::place(const Variable& variable, std::int64_t step) {
  if (others_write_) {
    keep_room_for_metadata(file_);
  }
  const std::int64_t offset = find_place(variable, step);
  newest_ = std::max(newest_, step);
  end_of_rooms_ = offset < 0 ? end_of_rooms_ : std::max(end_of_rooms_, offset + variable.bytes());
  return offset;
}

// HDF5 reads no file that is shorter than its superblock says. So that counts no data of others
// that may still be on their way. At the end nobody writes any more: the file gets the length of
// its visible part.
Switch BufferedFile::write(const Description& description, std::int64_t from, bool is_last) {
  const Quiet quiet;
  const auto root = write_root(description, from, is_last);
  if (!root) {
    set_length(visible_end_);
    return {};
  }
  int error = buffer_.store();
  next_end_ = std::max({visible_end_, root->end, metadata_end(file_)});
  if (error == 0 && (is_last || ends_with(description, from))) {
    set_length(next_end_);
  } else if (error == 0) {
    error = buffer_.extend({.least = next_end_,
                            .durable = std::max(visible_end_, root->durable_end),
                            .placed = end_of_file(file_)});
  }
  if (error != 0) {
    throw failure("write the metadata of", path_, error);
  }
  return {0, superblock(root->address, next_end_)};
}

void BufferedFile::set_length(std::int64_t bytes) {
  if (const int error = buffer_.set_length(std::max(bytes, earlier_bytes_)); error != 0) {
    throw failure("set the size of", path_, error);
  }
}

Switch BufferedFile::finish(const Description& description, std::int64_t from) {
  Switch last = write(description, from, true);
  const Quiet quiet;
  check(H5Fclose(std::exchange(file_, H5I_INVALID_HID)), "close", path_);
  return last;
}

}  // namespace iocomp::formats::h5
