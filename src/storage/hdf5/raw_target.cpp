#include "storage/hdf5/raw_target.h"

#include <hdf5.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "storage/descriptor.h"
#include "storage/format.h"
#include "storage/hdf5/dataset.h"
#include "storage/hdf5/error.h"
#include "storage/hdf5/handle.h"

namespace iocomp::storage::h5 {
namespace {

// Closing a file writes what is left of its metadata. Where that fails, HDF5 keeps the file, tries again when the process
// ends, and prints. A file that nobody wants any more is therefore closed into memory.
void divert_to_memory(hid_t file) noexcept {
  void* handle = nullptr;
  const Descriptor memory{::memfd_create("iocomp-abandoned", MFD_CLOEXEC)};
  if (memory.is_open() && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle != nullptr) {
    (void)::dup2(memory.raw(), *static_cast<const int*>(handle));
  }
}

}  // namespace

RawTarget::RawTarget(std::string path, const FormatOptions& options) : path_{std::move(path)} {
  const Quiet quiet;
  const Properties access = file_access(options);
#if H5_VERSION_GE(1, 10, 7)
  // Not every parallel file system has locks, and nobody else knows the file yet.
  H5Pset_file_locking(access.raw(), false, true);
#endif
  file_ = check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.raw()), "create", path_);
}

RawTarget::~RawTarget() {
  if (file_ >= 0) {
    const Quiet quiet;
    divert_to_memory(file_);
    H5Fclose(file_);
  }
}

std::int64_t RawTarget::place(const Variable& variable, std::int64_t step) {
  const Quiet quiet;
  const Dataset dataset = create_dataset(file_, variable, step, path_);
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
}

void RawTarget::finish(const Description& description) {
  const Quiet quiet;
  describe(file_, description, created_, path_);
  // Whatever can fail for want of room fails here, while the file can still be abandoned.
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_);
  check(H5Fclose(file_), "close", path_);
  file_ = H5I_INVALID_HID;
}

}  // namespace iocomp::storage::h5
