#include "storage/hdf5/raw_target.h"

#include <fcntl.h>
#include <hdf5.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "storage/descriptor.h"
#include "storage/failure.h"
#include "storage/format.h"
#include "storage/hdf5/buffer_driver.h"
#include "storage/hdf5/dataset.h"
#include "storage/hdf5/error.h"
#include "storage/hdf5/handle.h"
#include "storage/hdf5/metadata_buffer.h"

namespace iocomp::storage::h5 {
namespace {

// The file is there already or not, but empty: others may have opened it, so it is not made anew.
Descriptor opened(const std::string& path) {
  Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
  if (!file.is_open()) {
    throw failure("create", path, errno);
  }
  return file;
}

}  // namespace

RawTarget::RawTarget(std::string path, const FormatOptions& options)
    : path_{std::move(path)}, buffer_{opened(path_)} {
  const Quiet quiet;
  const Properties access = file_access(options);
  check(use_buffer(access.raw(), buffer_, options.alignment_bytes), "create", path_);
  file_ =
      check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.raw()), "create", path_);
}

RawTarget::~RawTarget() {
  if (file_ >= 0) {
    const Quiet quiet;
    creation_.close_group();
    H5Fclose(file_);  // into the buffer, and gone with it
  }
}

std::int64_t RawTarget::place(const Variable& variable, std::int64_t step) {
  const Quiet quiet;
  if (created_.contains({step, variable.name})) {
    unlink(file_, dataset_name(variable, step), path_);
  }
  const Dataset dataset = creation_.dataset(file_, variable, step, path_);
  created_.emplace(step, variable.name);
  if (variable.bytes() == 0) {
    return -1;
  }
  const haddr_t offset = H5Dget_offset(dataset.raw());
  if (offset == HADDR_UNDEF) {
    fail("find the offset of " + dataset_name(variable, step) + " in", path_);
  }
  return static_cast<std::int64_t>(offset);
}

void RawTarget::write(const Placed& /*where*/, const Selection& /*selection*/,
                      std::span<const std::byte> /*bytes*/) {
  throw Error{ErrorCode::internal, "a plain file is not written through its target"};
}

void RawTarget::flush() {
  const Quiet quiet;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_);
  store(end_of_file(file_));
}

void RawTarget::finish(const Description& description) {
  const Quiet quiet;
  creation_.close_group();
  describe(file_, description, created_, path_);
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_);
  const std::int64_t file_bytes = end_of_file(file_);
  check(H5Fclose(std::exchange(file_, H5I_INVALID_HID)), "close", path_);
  store(file_bytes);
}

void RawTarget::store(std::int64_t file_bytes) {
  const int error = buffer_.store(file_bytes);
  if (error != 0) {
    throw failure("write the metadata of", path_, error);
  }
}

}  // namespace iocomp::storage::h5
