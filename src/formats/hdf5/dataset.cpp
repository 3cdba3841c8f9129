#include "formats/hdf5/dataset.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "array/box.h"
#include "formats/format.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"

namespace iocomp::formats::h5 {
namespace {

Space space_of(const array::Shape& shape) {
  if (shape.dimensions == 0) {
    return Space{H5Screate(H5S_SCALAR)};
  }
  std::array<hsize_t, array::max_dimensions> extent{};
  for (int d = 0; d < shape.dimensions; ++d) {
    extent.at(static_cast<std::size_t>(d)) =
        static_cast<hsize_t>(shape.extent[static_cast<std::size_t>(d)]);
  }
  return Space{H5Screate_simple(shape.dimensions, extent.data(), nullptr)};
}

}  // namespace

void unlink(hid_t file, const std::string& name, const std::string& path) {
  check(H5Ldelete(file, name.c_str(), H5P_DEFAULT), "remove " + name + " from", path);
}

std::string dataset_name(const Variable& variable, std::int64_t step) {
  return '/' + std::to_string(step) + '/' + variable.name;
}

Properties file_access(const FormatOptions& options) {
  Properties access{H5Pcreate(H5P_FILE_ACCESS)};
  // Everything begins at its own multiple, metadata too: then raw data never share a page with what
  // the lead writes, whichever node they come from.
  const auto alignment = static_cast<hsize_t>(std::max<std::int64_t>(options.alignment_bytes, 1));
  H5Pset_alignment(access.raw(), 1, alignment);
  H5Pset_libver_bounds(access.raw(), H5F_LIBVER_V18, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access.raw(), H5F_CLOSE_STRONG);
  return access;
}

void let_others_write(const Properties& create) {
  H5Pset_layout(create.raw(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(create.raw(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(create.raw(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(create.raw(), false);  // the same calls make the same file
}

Creation::Creation() : link_{H5Pcreate(H5P_LINK_CREATE)}, create_{H5Pcreate(H5P_DATASET_CREATE)} {
  H5Pset_create_intermediate_group(link_.raw(), 1);
  H5Pset_char_encoding(link_.raw(), H5T_CSET_UTF8);
  let_others_write(create_);
}

Dataset Creation::dataset(hid_t file, const Variable& variable, std::int64_t step,
                          const std::string& path) {
  const std::string name = dataset_name(variable, step);
  const Stored stored = stored_as(variable);
  const Space space = space_of(stored.shape);
  const auto made = [&](hid_t where, const std::string& as) {
    return H5Dcreate2(where, as.c_str(), stored.type.raw(), space.raw(), link_.raw(), create_.raw(),
                      H5P_DEFAULT);
  };
  // From the second of a step on below its group, which stays open: from the root every name is
  // looked up anew.
  if (step_ != step) {
    close_group();
  } else if (group_.raw() < 0) {
    group_ = Object{H5Oopen(file, ('/' + std::to_string(step)).c_str(), H5P_DEFAULT)};
  }
  const hid_t dataset = group_.raw() < 0 ? made(file, name) : made(group_.raw(), variable.name);
  step_ = step;
  return Dataset{check(dataset, "create the dataset " + name + " in", path)};
}

void describe(hid_t file, const Description& description, const Datasets& created,
              const std::string& path) {
  write_attributes(file, description.attributes, path);
  Datasets kept;
  std::set<std::int64_t> kept_steps;
  for (const auto& placed : description.contents) {
    kept.emplace(placed.step, placed.variable.name);
    kept_steps.insert(placed.step);
    const auto id = static_cast<std::size_t>(placed.variable.id);
    if (id < description.of_variable.size() && !description.of_variable[id].empty()) {
      const std::string name = dataset_name(placed.variable, placed.step);
      const Dataset dataset{check(H5Dopen2(file, name.c_str(), H5P_DEFAULT),
                                  "open the dataset " + name + " in", path)};
      write_attributes(dataset.raw(), description.of_variable[id], path);
    }
  }
  // Last, because what is unlinked is free for metadata that come later.
  std::set<std::int64_t> removed_steps;
  for (const auto& [step, name] : created) {
    if (!kept_steps.contains(step)) {
      removed_steps.insert(step);
    } else if (!kept.contains({step, name})) {
      unlink(file, '/' + std::to_string(step) + '/' + name, path);
    }
  }
  for (const auto step : removed_steps) {
    unlink(file, '/' + std::to_string(step), path);
  }
}

}  // namespace iocomp::formats::h5
