// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/native.h"

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>
#include <hdf5.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hdf5/error_stack.h"
#include "hdf5/identifier.h"

namespace iocomp::hdf5::native {
namespace {

hid_t registered = H5I_INVALID_HID;

std::atomic<int> threads_of_hdf5 = 0;
thread_local bool is_thread_of_hdf5 = false;

bool ask(void* dataset, H5VL_dataset_get_args_t& args) {
  return H5VLdataset_get(dataset, id(), &args, H5P_DATASET_XFER_DEFAULT, nullptr) >= 0;
}

bool ask(void* dataset, int what, H5VL_native_dataset_optional_args_t& details) {
  H5VL_optional_args_t args{};
  args.op_type = what;
  args.args = &details;
  return H5VLdataset_optional(dataset, id(), &args, H5P_DATASET_XFER_DEFAULT, nullptr) >= 0;
}

// Makes a call of HDF5. HDF5 notes what has failed behind its earlier notes, of which it keeps only
// some: those of this call are taken away.
Outcome outcome_of_call(const std::function<bool()>& call) {
  struct Walk {
    ssize_t before;
    std::string story;
  };
  Walk walk{std::max<ssize_t>(H5Eget_num(H5E_DEFAULT), 0), "HDF5 does not say why"};
  if (call()) {
    return {};
  }
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned number, const H5E_error2_t* error, void* to) -> herr_t {
        auto& found = *static_cast<Walk*>(to);
        if (std::cmp_less(number, found.before)) {
          return 0;
        }
        found.story = error->desc;
        return 1;  // that is enough
      },
      &walk);
  if (const auto notes = H5Eget_num(H5E_DEFAULT); notes > walk.before) {
    H5Epop(H5E_DEFAULT, static_cast<size_t>(notes - walk.before));
  }
  std::erase(walk.story, '\n');  // behind the time that it tells
  return {ErrorCode::storage_failure, walk.story};
}

using Found = std::function<void(const hsize_t* first, haddr_t place)>;

int found_chunk(const hsize_t* first, unsigned /*filters*/, haddr_t place, hsize_t /*bytes*/,
                void* found) {
  (*static_cast<const Found*>(found))(first, place);
  return H5_ITER_CONT;
}

// `iocomp run` sets HDF5_PLUGIN_PATH, in place of the folder in which HDF5 looks by itself.
void search_default_folder() noexcept {
#ifdef H5_DEFAULT_PLUGINDIR
  const std::string_view folder = H5_DEFAULT_PLUGINDIR;
  unsigned folders = 0;
  bool is_searched = H5PLsize(&folders) < 0;
  for (unsigned i = 0; i < folders && !is_searched; ++i) {
    std::array<char, PATH_MAX> name{};
    is_searched = H5PLget(i, name.data(), name.size()) > 0 && folder == name.data();
  }
  if (!is_searched) {
    H5PLappend(H5_DEFAULT_PLUGINDIR);
  }
#endif
}

}  // namespace

bool find() noexcept {
  search_default_folder();
  registered = H5VL_NATIVE;
  return registered >= 0;
}

hid_t id() noexcept {
  if (!is_thread_of_hdf5) {
    is_thread_of_hdf5 = true;
    ++threads_of_hdf5;
  }
  return registered;
}

bool is_used_by_this_thread_alone() noexcept { return is_thread_of_hdf5 && threads_of_hdf5 == 1; }

void call_from_outside(const std::function<void()>& body) {
#if H5_VERSION_GE(2, 0, 0)
  void* context = nullptr;
  if (H5VLopen_lib_context(&context) >= 0) {
    body();
    H5VLclose_lib_context(context);
  }
#else
  if (H5VLstart_lib_state() >= 0) {
    body();
    H5VLfinish_lib_state();
  }
#endif
}

std::optional<unsigned long> number_of_file(void* file) {
  unsigned long number = 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_FILENO;
  args.args.get_fileno.fileno = &number;
  return H5VLfile_get(file, id(), &args, H5P_DATASET_XFER_DEFAULT, nullptr) >= 0
             ? std::optional{number}
             : std::nullopt;
}

std::size_t open_datasets_of(void* file) {
  std::size_t count = 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_OBJ_COUNT;
  args.args.get_obj_count.types = H5F_OBJ_DATASET;
  args.args.get_obj_count.count = &count;
  return H5VLfile_get(file, id(), &args, H5P_DATASET_XFER_DEFAULT, nullptr) >= 0 ? count : 0;
}

bool tells_chunks_of([[maybe_unused]] void* file) {
#if H5_VERSION_GE(1, 14, 4)
  return true;
#else
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_FCPL;
  if (H5VLfile_get(file, id(), &args, H5P_DATASET_XFER_DEFAULT, nullptr) < 0) {
    return false;
  }
  const PropertyList list{args.args.get_fcpl.fcpl_id};
  hsize_t bytes = 0;
  return H5Pget_userblock(list.raw(), &bytes) >= 0 && bytes == 0;
#endif
}

std::size_t sieve_bytes_of(void* file) {
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_FAPL;
  if (H5VLfile_get(file, id(), &args, H5P_DATASET_XFER_DEFAULT, nullptr) < 0) {
    return 0;
  }
  const PropertyList list{args.args.get_fapl.fapl_id};
  std::size_t bytes = 0;
  H5Pget_sieve_buf_size(list.raw(), &bytes);
  return bytes;
}

std::optional<Identity> identity_of(void* object, H5I_type_t type) {
  H5VL_loc_params_t self{};
  self.obj_type = type;
  self.type = H5VL_OBJECT_BY_SELF;
  H5O_info2_t about{};
  H5VL_object_get_args_t args{};
  args.op_type = H5VL_OBJECT_GET_INFO;
  args.args.get_info.oinfo = &about;
  args.args.get_info.fields = H5O_INFO_BASIC;
  if (H5VLobject_get(object, &self, id(), &args, H5P_DATASET_XFER_DEFAULT, nullptr) < 0) {
    return std::nullopt;
  }
  return Identity{
      .file_number = about.fileno, .token = std::to_array(about.token.__data), .links = about.rc};
}

PropertyList creation_list(void* dataset) {
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_DCPL;
  return PropertyList{ask(dataset, args) ? args.args.get_dcpl.dcpl_id : H5I_INVALID_HID};
}

bool is_virtual(void* dataset) {
  const PropertyList list = creation_list(dataset);
  return list.is_valid() && H5Pget_layout(list.raw()) == H5D_VIRTUAL;
}

Dataspace space(void* dataset) {
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_SPACE;
  return Dataspace{ask(dataset, args) ? args.args.get_space.space_id : H5I_INVALID_HID};
}

Datatype type(void* dataset) {
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_TYPE;
  return Datatype{ask(dataset, args) ? args.args.get_type.type_id : H5I_INVALID_HID};
}

// HDF5 1.14.6 tells an offset also of a dataset without storage, if the file has a user block.
std::optional<haddr_t> offset(void* dataset) {
  H5D_space_status_t storage = H5D_SPACE_STATUS_ERROR;
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_SPACE_STATUS;
  args.args.get_space_status.status = &storage;
  if (!ask(dataset, args) || storage != H5D_SPACE_STATUS_ALLOCATED) {
    return std::nullopt;
  }
  haddr_t place = HADDR_UNDEF;
  H5VL_native_dataset_optional_args_t details{};
  details.get_offset.offset = &place;
  const bool is_told = ask(dataset, H5VL_NATIVE_DATASET_GET_OFFSET, details);
  return is_told && place != HADDR_UNDEF ? std::optional{place} : std::nullopt;
}

void make_place(void* dataset) {
  const PropertyList list = creation_list(dataset);
  const Datatype stored = type(dataset);
  const Dataspace first = space(dataset);
  std::vector<std::byte> value(H5Tget_size(stored.raw()));
  H5D_fill_value_t kind = H5D_FILL_VALUE_ERROR;
  if (H5Pfill_value_defined(list.raw(), &kind) >= 0 && kind == H5D_FILL_VALUE_USER_DEFINED) {
    H5Pget_fill_value(list.raw(), stored.raw(), value.data());
  }
  if (H5Sget_simple_extent_ndims(first.raw()) > 0) {
    const std::array<hsize_t, H5S_MAX_RANK> origin{};
    H5Sselect_elements(first.raw(), H5S_SELECT_SET, 1, origin.data());
  }
  hid_t memory_type = stored.raw();
  hid_t memory_space = H5S_BLOCK;
  hid_t file_space = first.raw();
  const void* memory = value.data();
  without_notes([&] {  // fails: the caller finds no place
    H5VLdataset_write(1, &dataset, id(), &memory_type, &memory_space, &file_space,
                      H5P_DATASET_XFER_DEFAULT, &memory, nullptr);
  });
}

bool find_chunks(void* dataset, const Found& found) {
  H5VL_native_dataset_optional_args_t details{};
  details.chunk_iter.op = found_chunk;
  details.chunk_iter.op_data = const_cast<Found*>(&found);  // HDF5 passes it on as it is
  return ask(dataset, H5VL_NATIVE_DATASET_CHUNK_ITER, details);
}

Outcome write_chunk(void* dataset, const hsize_t* first, std::span<const std::byte> filtered) {
  H5VL_native_dataset_optional_args_t details{};
  auto& chunk = details.chunk_write;
  if (filtered.size() > std::numeric_limits<decltype(chunk.size)>::max()) {
    return {ErrorCode::unsupported, "it is longer than HDF5's chunks may be"};
  }
  chunk.offset = first;
  chunk.filters = 0;  // all of them were applied
  chunk.size = static_cast<decltype(chunk.size)>(filtered.size());
  chunk.buf = filtered.data();
  return outcome_of_call([&] { return ask(dataset, H5VL_NATIVE_DATASET_CHUNK_WRITE, details); });
}

Outcome close_dataset(void* dataset) {
  return outcome_of_call([dataset] {
    return H5VLdataset_close(dataset, id(), H5P_DATASET_XFER_DEFAULT, nullptr) >= 0;
  });
}

}  // namespace iocomp::hdf5::native
