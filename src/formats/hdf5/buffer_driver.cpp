// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/buffer_driver.h"

#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <span>

#include "base/error.h"
#include "formats/hdf5/metadata_buffer.h"

namespace iocomp::formats::h5 {
namespace {

/// The open file as HDF5 knows it; HDF5 uses the first member.
struct DriverFile {
  H5FD_t common{};
  MetadataBuffer* buffer = nullptr;
  haddr_t alignment = 1;  // of what is allotted
  haddr_t first = 0;      // everything but the superblock comes behind
  haddr_t allotted = 0;   // HDF5's "end of allocation"
  haddr_t metadata = 0;   // behind all metadata
  haddr_t kept = 0;       // for metadata, from here ...
  haddr_t kept_end = 0;   // ... to here
  haddr_t written = 0;
  haddr_t placed_at = HADDR_UNDEF;  // where data go of the next dataset
};

/// The driver's part of a property list, which HDF5 copies byte by byte.
struct Settings {
  MetadataBuffer* buffer;
  haddr_t alignment;
  haddr_t first;
};

DriverFile& own(H5FD_t* file) { return *reinterpret_cast<DriverFile*>(file); }
const DriverFile& own(const H5FD_t* file) { return *reinterpret_cast<const DriverFile*>(file); }

H5FD_t* open(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*most*/) {
  const auto* settings = static_cast<const Settings*>(H5Pget_driver_info(access));
  if (settings == nullptr) {
    return nullptr;
  }
  try {
    auto file = std::make_unique<DriverFile>();
    file->buffer = settings->buffer;
    file->alignment = settings->alignment;
    file->first = settings->first;
    return &file.release()->common;
  } catch (const std::exception&) {
    return nullptr;
  }
}

herr_t close(H5FD_t* file) {
  const std::unique_ptr<DriverFile> closed{&own(file)};
  return 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA |
           H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

constexpr haddr_t metadata_block_bytes = 64 * 1024;

// Here, because HDF5 would remember each gap, and look through all of them for the next place.
haddr_t aligned(const DriverFile& file, haddr_t place) {
  return (place + file.alignment - 1) / file.alignment * file.alignment;
}

haddr_t next_place(const DriverFile& file) {
  return aligned(file, std::max(file.allotted, file.first));
}

haddr_t take_metadata(DriverFile& file, haddr_t bytes) {
  const haddr_t kept = aligned(file, file.kept);
  const bool fits = kept + bytes <= file.kept_end;
  const haddr_t begin = fits ? kept : next_place(file);
  (fits ? file.kept : file.allotted) = begin + bytes;
  file.metadata = std::max(file.metadata, begin + bytes);
  return begin;
}

haddr_t allot_in(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, hsize_t size) {
  DriverFile& to = own(file);
  if (type == H5FD_MEM_DRAW && to.placed_at != HADDR_UNDEF) {
    return to.placed_at;
  }
  if (type == H5FD_MEM_SUPER) {
    const haddr_t begin = aligned(to, to.allotted);
    to.metadata = to.allotted = begin + size;
    return begin;
  }
  return take_metadata(to, size);
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t /*type*/) { return own(file).allotted; }

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
  DriverFile& to = own(file);
  // It makes its last block longer, or gives back what it does not need.
  to.metadata = end > to.allotted ? std::max(to.metadata, end) : std::min(to.metadata, end);
  to.allotted = end;
  return 0;
}

haddr_t end_of_what_is_written(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return own(file).written;
}

herr_t handle(H5FD_t* file, hid_t /*access*/, void** result) {
  *result = &own(file);
  return 0;
}

herr_t read(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t offset, std::size_t size,
            void* bytes) {
  return own(file).buffer->read(static_cast<std::int64_t>(offset),
                                {static_cast<std::byte*>(bytes), size}) == 0
             ? 0
             : -1;
}

herr_t write(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t offset,
             std::size_t size, const void* bytes) {
  try {
    own(file).buffer->write(static_cast<std::int64_t>(offset),
                            {static_cast<const std::byte*>(bytes), size});
  } catch (const std::exception&) {
    return -1;
  }
  own(file).written = std::max(own(file).written, offset + size);
  return 0;
}

herr_t truncate(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
  own(file).written = own(file).allotted;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value =
      static_cast<H5FD_class_value_t>(600);  // 512 and above are free for private drivers
#endif
  driver.name = "iocomp_buffer";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(Settings);
  driver.open = &open;
  driver.close = &close;
  driver.query = &query;
  driver.alloc = &allot_in;
  driver.get_eoa = &end_of_allocation;
  driver.set_eoa = &set_end_of_allocation;
  driver.get_eof = &end_of_what_is_written;
  driver.get_handle = &handle;
  driver.read = &read;
  driver.write = &write;
  driver.truncate = &truncate;
  const H5FD_mem_t free_lists[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(free_lists), std::end(free_lists), std::begin(driver.fl_map));
  return driver;
}

DriverFile& file_of(hid_t file) {
  void* found = nullptr;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &found) < 0) {
    throw Error{ErrorCode::internal, "a file of HDF5 has no buffer of iocomp's"};
  }
  return *static_cast<DriverFile*>(found);
}

}  // namespace

herr_t use_buffer(hid_t file_access, MetadataBuffer& buffer, std::int64_t alignment_bytes,
                  std::int64_t first_byte) {
  static const H5FD_class_t driver = driver_class();
  static const hid_t registered = H5FDregister(&driver);
  const Settings settings{&buffer, static_cast<haddr_t>(std::max<std::int64_t>(alignment_bytes, 1)),
                          static_cast<haddr_t>(first_byte)};
  // Metadata in few blocks, raw data each where they were allotted.
  const bool is_set = registered >= 0 && H5Pset_alignment(file_access, 1, 1) >= 0 &&
                      H5Pset_meta_block_size(file_access, metadata_block_bytes) >= 0 &&
                      H5Pset_small_data_block_size(file_access, 0) >= 0;
  return is_set ? H5Pset_driver(file_access, registered, &settings) : -1;
}

std::int64_t end_of_file(hid_t file) { return static_cast<std::int64_t>(file_of(file).allotted); }

std::int64_t metadata_end(hid_t file) { return static_cast<std::int64_t>(file_of(file).metadata); }

std::int64_t next_allotted(hid_t file) {
  return static_cast<std::int64_t>(next_place(file_of(file)));
}

std::int64_t allot(hid_t file, std::int64_t bytes) {
  const std::int64_t begin = next_allotted(file);
  file_of(file).allotted = static_cast<haddr_t>(begin + bytes);
  return begin;
}

std::int64_t allot_metadata(hid_t file, std::int64_t bytes) {
  return static_cast<std::int64_t>(take_metadata(file_of(file), static_cast<haddr_t>(bytes)));
}

void keep_room_for_metadata(hid_t file) {
  DriverFile& in = file_of(file);
  const haddr_t wanted = 2 * aligned(in, metadata_block_bytes);  // HDF5's and iocomp's own
  if (aligned(in, in.kept) + wanted > in.kept_end) {
    in.kept = next_place(in);
    in.allotted = in.kept_end = in.kept + wanted;
  }
}

PlacedAt::PlacedAt(hid_t file, std::int64_t offset) : placed_at_{file_of(file).placed_at} {
  placed_at_ = static_cast<haddr_t>(offset);
}

PlacedAt::~PlacedAt() { placed_at_ = HADDR_UNDEF; }

}  // namespace iocomp::formats::h5
