// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/buffered_file.h"

#include <fcntl.h>
#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/failure.h"
#include "formats/format.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/open_together.h"

namespace iocomp::formats::h5 {
BufferedFile::BufferedFile(std::string path, const FormatOptions& options,
                           const Properties& creation)
    : path_{std::move(path)}, buffer_{open_beside_others(path_, O_RDWR), superblock_bytes} {
  const Quiet quiet;
  const Properties access = file_access(options);
  const std::int64_t first = options.earlier_steps < 0 ? 0 : end_of_earlier();
  check(use_buffer(access.raw(), buffer_, options.alignment_bytes, first), "create", path_);
  const hid_t properties = creation.raw() < 0 ? H5P_DEFAULT : creation.raw();
  file_ = check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, properties, access.raw()), "create", path_);
}

// What an earlier job has left behind it no reader sees. It stays: the manifest may count it.
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

void BufferedFile::flush() {
  const Quiet quiet;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_);
}

void BufferedFile::store() {
  const int error = buffer_.store(end_of_file(file_));
  if (error != 0) {
    throw failure("write the metadata of", path_, error);
  }
}

Switch BufferedFile::visible(std::int64_t root_group) const {
  return {0, superblock(root_group, end_of_file(file_))};
}

void BufferedFile::close() {
  const Quiet quiet;
  check(H5Fclose(std::exchange(file_, H5I_INVALID_HID)), "close", path_);
}

}  // namespace iocomp::formats::h5
