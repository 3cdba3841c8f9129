#include "storage/hdf5/library_target.h"

#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "array/box.h"
#include "array/element_type.h"
#include "storage/descriptor.h"
#include "storage/format.h"
#include "storage/hdf5/dataset.h"
#include "storage/hdf5/error.h"
#include "storage/hdf5/handle.h"
#include "storage/hdf5/sub_boxes.h"
#include "storage/hdf5/types.h"
#include "storage/mpi_hints.h"
#include "storage/open_together.h"

namespace iocomp::storage::h5 {
namespace {

constexpr std::int64_t slice_bytes = std::int64_t{8} << 20;

using Extents = std::array<hsize_t, array::max_dimensions>;

Extents extents(const array::Extents& values) {
  Extents converted{};
  std::transform(values.begin(), values.end(), converted.begin(),
                 [](std::int64_t value) { return static_cast<hsize_t>(value); });
  return converted;
}

}  // namespace

LibraryTarget::LibraryTarget(std::string path, const FormatOptions& options, MPI_Comm writers)
    : path_{std::move(path)} {
  // HDF5 does not recover when one rank cannot open the file, so try that first.
  const Descriptor tried = open_together(path_, writers);
  const Quiet quiet;
  const MpiHints hints{options};
  const Properties access = file_access(options);
  check(H5Pset_fapl_mpio(access.raw(), writers, hints.raw()), "open", path_);
  check(H5Pset_coll_metadata_write(access.raw(), true), "open", path_);
  file_ = check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.raw()), "create", path_);
}

std::int64_t LibraryTarget::place(const Variable& variable, std::int64_t step) {
  const Quiet quiet;
  (void)create_dataset(file_, variable, step, path_);
  created_.emplace(step, variable.name);
  return -1;
}

void LibraryTarget::write(const Placed& where, const Selection& selection, std::span<const std::byte> bytes) {
  const Quiet quiet;
  open(dataset_name(where.variable, where.step));
  const auto element_bytes = static_cast<std::int64_t>(array::size_bytes(where.variable.type));
  const std::int64_t most = slice_bytes / element_bytes;
  for (std::int64_t done = 0; done < selection.count; done += most) {
    const Selection slice{selection.box, selection.first + done, std::min(most, selection.count - done)};
    write_slice(where, slice, bytes.data() + done * element_bytes);
  }
}

void LibraryTarget::open(const std::string& name) {
  if (name != open_name_ || open_.raw() < 0) {
    open_ = Dataset{check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "open the dataset " + name + " in", path_)};
    open_name_ = name;
  }
}

void LibraryTarget::write_slice(const Placed& where, const Selection& slice, const std::byte* bytes) {
  const std::string action = "write to " + open_name_ + " in";
  const Type type = element_type(where.variable.type);
  const Space in_file{check(H5Dget_space(open_.raw()), action, path_)};
  for (const auto& part : sub_boxes(slice.box, slice.first, slice.count)) {
    if (part.dimensions > 0) {
      const Extents start = extents(part.start);
      const Extents count = extents(part.count);
      check(H5Sselect_hyperslab(in_file.raw(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
            action, path_);
    }
    const auto packed = static_cast<hsize_t>(elements(part));
    const Space in_memory{check(H5Screate_simple(1, &packed, nullptr), action, path_)};
    check(H5Dwrite(open_.raw(), type.raw(), in_memory.raw(), in_file.raw(), H5P_DEFAULT, bytes), action, path_);
    bytes += packed * array::size_bytes(where.variable.type);
  }
}

void LibraryTarget::flush() {
  const Quiet quiet;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_);
}

void LibraryTarget::finish(const Description& description) {
  const Quiet quiet;
  open_ = {};
  // All steps, whatever fails: each is collective, and the other writers will be in them.
  std::exception_ptr first;
  const auto attempt = [&first](const auto& action) {
    try {
      action();
    } catch (...) {
      first = first ? first : std::current_exception();
    }
  };
  attempt([&] { describe(file_, description, created_, path_); });
  attempt([&] { check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_); });
  attempt([&] { check(H5Fclose(file_), "close", path_); });
  file_ = H5I_INVALID_HID;
  if (first) {
    std::rethrow_exception(first);
  }
}

}  // namespace iocomp::storage::h5
