#include "formats/hdf5/library_target.h"

#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "array/box.h"
#include "array/element_type.h"
#include "array/runs.h"
#include "base/descriptor.h"
#include "base/failure.h"
#include "base/write_plainly.h"
#include "formats/file_system.h"
#include "formats/format.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/room.h"
#include "formats/hdf5/types.h"
#include "formats/mpi_hints.h"
#include "formats/open_together.h"
#include "formats/sub_boxes.h"
#include "formats/words.h"
#include "mpi/error.h"

namespace iocomp::formats::h5 {
namespace {

constexpr std::int64_t slice_bytes = std::int64_t{8} << 20;
// Set aside at once, so that small variables need few calls.
constexpr std::int64_t reserve_bytes = std::int64_t{1} << 20;
constexpr std::int64_t smallest_object_bytes = 4096;
// Groups, headers, nodes: more than one call makes.
constexpr std::int64_t objects_per_dataset = 16;
constexpr std::int64_t bytes_around_an_attribute = 512;

using Extents = std::array<hsize_t, array::max_dimensions>;

Extents extents(const array::Extents& values) {
  Extents converted{};
  std::transform(values.begin(), values.end(), converted.begin(),
                 [](std::int64_t value) { return static_cast<hsize_t>(value); });
  return converted;
}

std::int64_t size_of(const Attributes& attributes) {
  std::int64_t sum = 0;
  for (const auto& [name, values] : attributes) {
    sum +=
        static_cast<std::int64_t>(name.size() + values.values.size()) + bytes_around_an_attribute;
  }
  return sum;
}

std::int64_t size_of_attributes(const Description& description) {
  std::int64_t sum = size_of(description.attributes);
  for (const auto& placed : description.contents) {
    const auto id = static_cast<std::size_t>(placed.variable.id);
    sum += id < description.of_variable.size() ? size_of(description.of_variable[id]) : 0;
  }
  return sum;
}

}  // namespace

LibraryTarget::LibraryTarget(std::string path, const FormatOptions& options, MPI_Comm writers)
    : path_{std::move(path)}, writers_{writers}, plain_{open_together(path_, writers)} {
  const Quiet quiet;
  metadata_bytes_ = objects_per_dataset * std::max(options.alignment_bytes, smallest_object_bytes);
  reserve_on_all(0, "create");
  const MpiHints hints{options, file_system_hints(path_, writers)};
  const Properties access = file_access(options);
  check(H5Pset_fapl_mpio(access.raw(), writers, hints.raw()), "open", path_);
  check(H5Pset_coll_metadata_write(access.raw(), true), "open", path_);
  file_ =
      check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.raw()), "create", path_);
}

// Only the first writer asks, for all: the others would set the same bytes aside. All know how much
// there is.
void LibraryTarget::reserve_on_all(std::int64_t more_bytes, const std::string& action) {
  const std::int64_t wanted = end_of_data_ + after_data_ + 4 * metadata_bytes_ + more_bytes;
  if (wanted <= reserved_) {
    return;
  }
  int rank = 0;
  mpi::check(MPI_Comm_rank(writers_, &rank));
  const std::int64_t ahead = (wanted / reserve_bytes + 1) * reserve_bytes;
  agree_on_errno(rank == 0 ? reserve(plain_, ahead) : 0, action, path_, writers_);
  reserved_ = ahead;
}

// With this driver HDF5 does not tell where its file ends, but new data lie at the end.
void LibraryTarget::note_the_end(const Dataset& dataset, const Variable& variable) {
  const haddr_t offset = variable.bytes() == 0 ? HADDR_UNDEF : H5Dget_offset(dataset.raw());
  const std::int64_t end =
      offset == HADDR_UNDEF ? 0 : static_cast<std::int64_t>(offset) + variable.bytes();
  after_data_ = metadata_bytes_ + (end > end_of_data_ ? 0 : after_data_);
  end_of_data_ = std::max(end, end_of_data_);
}

std::int64_t LibraryTarget::place(const Variable& variable, std::int64_t step) {
  const Quiet quiet;
  reserve_on_all(variable.bytes(), "make room for " + dataset_name(variable, step) + " in");
  note_the_end(create_dataset(file_, variable, step, path_), variable);
  created_.emplace(step, variable.name);
  return -1;
}

void LibraryTarget::write(const Placed& where, const Selection& selection,
                          std::span<const std::byte> bytes) {
  const Quiet quiet;
  open(dataset_name(where.variable, where.step));
  const auto element_bytes = static_cast<std::int64_t>(array::size_bytes(where.variable.type));
  const std::int64_t most = slice_bytes / element_bytes;
  if (where.variable.type == array::ElementType::character && selection.count > 0) {
    // HDF5 writes whole strings only.
    for (const auto& part : sub_boxes(selection.box, selection.first, selection.count)) {
      write_without_hdf5(where, part, bytes.data());
      bytes = bytes.subspan(static_cast<std::size_t>(elements(part)));
    }
    return;
  }
  for (std::int64_t done = 0; done < selection.count; done += most) {
    const Selection slice{selection.box, selection.first + done,
                          std::min(most, selection.count - done)};
    write_slice(where, slice, bytes.data() + done * element_bytes);
  }
}

void LibraryTarget::open(const std::string& name) {
  if (name != open_name_ || open_.raw() < 0) {
    open_ = Dataset{check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT),
                          "open the dataset " + name + " in", path_)};
    open_name_ = name;
  }
}

void LibraryTarget::write_slice(const Placed& where, const Selection& slice,
                                const std::byte* bytes) {
  const std::string action = "write to " + open_name_ + " in";
  const Type type = element_type(where.variable.type);
  const Space in_file{check(H5Dget_space(open_.raw()), action, path_)};
  for (const auto& part : sub_boxes(slice.box, slice.first, slice.count)) {
    if (part.dimensions > 0) {
      const Extents start = extents(part.start);
      const Extents count = extents(part.count);
      check(H5Sselect_hyperslab(in_file.raw(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                nullptr),
            action, path_);
    }
    const auto packed = static_cast<hsize_t>(elements(part));
    const Space in_memory{check(H5Screate_simple(1, &packed, nullptr), action, path_)};
    if (H5Dwrite(open_.raw(), type.raw(), in_memory.raw(), in_file.raw(), H5P_DEFAULT, bytes) < 0) {
      write_without_hdf5(where, part, bytes);
    }
    bytes += packed * array::size_bytes(where.variable.type);
  }
}

void LibraryTarget::write_together(const Placed& where, const array::Box& box,
                                   std::span<const std::byte> bytes) {
  if (where.variable.type == array::ElementType::character) {
    write(where, {box, 0, std::ssize(bytes)}, bytes);
    return;
  }
  const Quiet quiet;
  open(dataset_name(where.variable, where.step));
  const std::string action = "write collectively to " + open_name_ + " in";
  const Type type = element_type(where.variable.type);
  const Space in_file{check(H5Dget_space(open_.raw()), action, path_)};
  const auto packed = static_cast<hsize_t>(bytes.empty() ? 1 : elements(box));
  const Space in_memory{check(H5Screate_simple(1, &packed, nullptr), action, path_)};
  if (bytes.empty()) {
    H5Sselect_none(in_file.raw());
    H5Sselect_none(in_memory.raw());
  } else if (box.dimensions > 0) {
    const Extents start = extents(box.start);
    const Extents count = extents(box.count);
    H5Sselect_hyperslab(in_file.raw(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                        nullptr);
  }
  const Properties transfer{H5Pcreate(H5P_DATASET_XFER)};
  check(H5Pset_dxpl_mpio(transfer.raw(), H5FD_MPIO_COLLECTIVE), action, path_);
  if (H5Dwrite(open_.raw(), type.raw(), in_memory.raw(), in_file.raw(), transfer.raw(),
               bytes.data()) < 0) {
    write_without_hdf5(where, box, bytes.data());
  }
}

// MPI-IO does not tell HDF5 why a write failed. Datasets are contiguous and in native byte order,
// so the system can be asked.
void LibraryTarget::write_without_hdf5(const Placed& where, const array::Box& part,
                                       const std::byte* bytes) {
  const haddr_t begin = H5Dget_offset(open_.raw());
  if (begin == HADDR_UNDEF || bytes == nullptr) {
    fail("write to " + open_name_ + " in", path_);
  }
  const auto element_bytes = static_cast<std::int64_t>(array::size_bytes(where.variable.type));
  array::RunCursor cursor{where.variable.shape, part, 0, array::elements(part)};
  array::Run run;
  while (cursor.next(run)) {
    const auto run_bytes = static_cast<std::size_t>(run.elements * element_bytes);
    write_plainly(plain_, static_cast<std::int64_t>(begin) + run.index * element_bytes,
                  {bytes, run_bytes}, path_);
    bytes += run_bytes;
  }
}

void LibraryTarget::flush() {
  const Quiet quiet;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_);
}

void LibraryTarget::finish(const Description& description) {
  const Quiet quiet;
  open_ = {};
  reserve_on_all(size_of_attributes(description), "make room for the attributes in");
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
  attempt([&] {
    give_back_the_rest(plain_);
    if (::fsync(plain_.raw()) != 0) {
      throw failure("fsync", path_, errno);
    }
  });
  if (first) {
    std::rethrow_exception(first);
  }
}

}  // namespace iocomp::formats::h5
