// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/dataset.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "contents/description.h"
#include "formats/format.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"

namespace iocomp::formats::h5 {
namespace {

// With each flush HDF5 looks at all that its cache holds, and by itself that grows with the file.
void bound_cache(const Properties& access) {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(access.raw(), &config);
  config.set_initial_size = true;
  config.initial_size = config.min_size = config.max_size = bytes;
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  H5Pset_mdc_config(access.raw(), &config);
}

}  // namespace

Properties file_access(const FormatOptions& options) {
  Properties access{H5Pcreate(H5P_FILE_ACCESS)};
  // Everything begins at its own multiple, metadata too: then raw data never share a page with what
  // the lead writes, whichever node they come from.
  const auto alignment = static_cast<hsize_t>(std::max<std::int64_t>(options.alignment_bytes, 1));
  H5Pset_alignment(access.raw(), 1, alignment);
  H5Pset_libver_bounds(access.raw(), H5F_LIBVER_V18, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access.raw(), H5F_CLOSE_STRONG);
  bound_cache(access);
  return access;
}

void let_others_write(const Properties& create) {
  H5Pset_layout(create.raw(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(create.raw(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(create.raw(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(create.raw(), false);  // the same calls make the same file
}

std::int64_t address_of(hid_t object, const std::string& path) {
  hobj_ref_t to = 0;
  check(H5Rcreate(&to, object, ".", H5R_OBJECT, H5I_INVALID_HID),
        "find the address of an object in", path);
  return static_cast<std::int64_t>(to);
}

Object make_group(hid_t file, hid_t properties, const std::string& path) {
  constexpr const char* action = "create a group in";
  Object group{check(H5Gcreate_anon(file, properties, H5P_DEFAULT), action, path)};
  check(H5Oincr_refcount(group.raw()), action, path);
  return group;
}

void DatasetNames::add(const std::string& name, const std::string& path) {
  if (!names_.insert(name).second) {
    return;
  }
  std::string other;
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    const auto above = names_.find(std::string_view{name}.substr(0, slash));
    other = above == names_.end() ? other : *above;
  }
  const auto below = names_.lower_bound(name + '/');
  if (below != names_.end() && below->starts_with(name + '/')) {
    other = *below;
  }
  if (!other.empty()) {
    names_.erase(name);
    throw Error{ErrorCode::storage_failure,
                "cannot create the dataset \"" + name + "\" in " + path + ": there is \"" + other +
                    "\", and a dataset cannot be a group too; give one of them another name"};
  }
}

Creation::Creation() : link_{H5Pcreate(H5P_LINK_CREATE)}, create_{H5Pcreate(H5P_DATASET_CREATE)} {
  H5Pset_create_intermediate_group(link_.raw(), 1);
  H5Pset_char_encoding(link_.raw(), H5T_CSET_UTF8);
  let_others_write(create_);
}

std::int64_t Creation::place(hid_t file, const Variable& variable, const std::string& path) {
  names_.add(variable.name, path);
  return variable.bytes() == 0 ? -1 : allot(file, variable.bytes());
}

Dataset Creation::dataset(hid_t file, hid_t group, const Variable& variable, std::int64_t offset,
                          const std::string& path) {
  const Stored stored = stored_as(variable);
  const Space space = space_of(
      std::span{stored.shape.extent}.first(static_cast<std::size_t>(stored.shape.dimensions)));
  const PlacedAt placed{file, offset};
  Dataset dataset{check(H5Dcreate2(group, variable.name.c_str(), stored.type.raw(), space.raw(),
                                   link_.raw(), create_.raw(), H5P_DEFAULT),
                        "create the dataset " + variable.name + " in", path)};
  if (variable.bytes() > 0 && H5Dget_offset(dataset.raw()) != static_cast<haddr_t>(offset)) {
    fail("place the dataset " + variable.name + " in", path);
  }
  return dataset;
}

void Creation::datasets(hid_t file, hid_t group, std::span<const Placed> contents,
                        const std::vector<Attributes>& of_variable, const std::string& path) {
  for (const Placed& placed : contents) {
    const Dataset made = dataset(file, group, placed.variable, placed.offset, path);
    write_attributes(made.raw(), contents::attributes_of(placed.variable.id, of_variable), path);
  }
}

}  // namespace iocomp::formats::h5
