// SPDX-License-Identifier: BSD-3-Clause
#include "formats/netcdf/dimension_scales.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "contents/dimensions.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"

namespace iocomp::formats::cdf {
namespace {

// An entry of an attribute REFERENCE_LIST: a dataset that uses the scale, and for which dimension.
struct Use {
  hobj_ref_t dataset;
  int dimension;
};

struct Scale {
  Scaled::Dimension dimension;
  h5::Dataset own;  // where no variable is the scale
  hid_t dataset = H5I_INVALID_HID;
  std::vector<Use> uses;
};

h5::Space row_of(std::size_t count) {
  const auto extent = static_cast<hsize_t>(count);
  return h5::Space{H5Screate_simple(1, &extent, nullptr)};
}

void write_text(hid_t object, const std::string& name, const std::string& text,
                const std::string& path) {
  h5::write_attribute(object, name, h5::fixed_text_type(text.size() + 1, H5T_STR_NULLTERM),
                      h5::Space{H5Screate(H5S_SCALAR)}, text.c_str(), path);
}

hobj_ref_t reference(hid_t root, const std::string& link, const std::string& path) {
  hobj_ref_t to = 0;
  h5::check(H5Rcreate(&to, root, link.c_str(), H5R_OBJECT, H5I_INVALID_HID),
            "refer to \"" + link + "\" in", path);
  return to;
}

bool begins_with(const Scaled& variable, const std::string& dimension) {
  return !variable.dimensions.empty() && variable.dimensions.front().name == dimension;
}

h5::Dataset dimension_dataset(hid_t root, const Scaled::Dimension& dimension,
                              const std::string& path) {
  const std::string action = "add the dimension \"" + dimension.name + "\" to";
  const h5::Properties link{H5Pcreate(H5P_LINK_CREATE)};
  H5Pset_char_encoding(link.raw(), H5T_CSET_UTF8);
  const h5::Properties create{H5Pcreate(H5P_DATASET_CREATE)};
  H5Pset_attr_creation_order(create.raw(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(create.raw(), false);
  const auto length = static_cast<hsize_t>(dimension.length);
  const hsize_t most = dimension.is_unlimited ? H5S_UNLIMITED : length;
  if (dimension.is_unlimited) {
    const hsize_t chunk = 1;
    h5::check(H5Pset_chunk(create.raw(), 1, &chunk), action, path);
  }
  const h5::Space space{H5Screate_simple(1, &length, &most)};
  return h5::Dataset{h5::check(H5Dcreate2(root, dimension.name.c_str(), H5T_IEEE_F32BE, space.raw(),
                                          link.raw(), create.raw(), H5P_DEFAULT),
                               action, path)};
}

std::string name_of_plain_dimension(std::int64_t length) {
  char text[80];
  std::snprintf(text, sizeof text, "This is a netCDF dimension but not a netCDF variable.%10lld",
                static_cast<long long>(length));
  return text;
}

// The scale of a dimension: a variable that begins with it, if one has its name.
void become_scale(hid_t root, Scale& scale, int number, const std::vector<Scaled>& variables,
                  const std::string& path) {
  const std::string& name = scale.dimension.name;
  const auto same = std::ranges::find(variables, name, &Scaled::name);
  if (same != variables.end() && begins_with(*same, name)) {
    scale.dataset = same->dataset;
    write_text(scale.dataset, "CLASS", "DIMENSION_SCALE", path);
    write_text(scale.dataset, "NAME", name, path);
  } else {
    scale.own = dimension_dataset(root, scale.dimension, path);
    scale.dataset = scale.own.raw();
    write_text(scale.dataset, "CLASS", "DIMENSION_SCALE", path);
    write_text(scale.dataset, "NAME", name_of_plain_dimension(scale.dimension.length), path);
  }
  h5::write_attribute(scale.dataset, "_Netcdf4Dimid", h5::Type{H5Tcopy(H5T_NATIVE_INT)},
                      h5::Space{H5Screate(H5S_SCALAR)}, &number, path);
}

void refer_to_scales(hid_t root, const Scaled& variable, const std::string& link,
                     const std::vector<std::size_t>& numbers, std::vector<Scale>& scales,
                     const std::string& path) {
  const hobj_ref_t own = reference(root, link, path);
  std::vector<hobj_ref_t> to;
  for (std::size_t d = 0; d < numbers.size(); ++d) {
    Scale& scale = scales[numbers[d]];
    to.push_back(reference(root, scale.dimension.name, path));
    scale.uses.push_back({own, static_cast<int>(d)});
  }
  std::vector<hvl_t> lists;
  for (auto& one : to) {
    lists.push_back({1, &one});
  }
  h5::write_attribute(variable.dataset, "DIMENSION_LIST", h5::Type{H5Tvlen_create(H5T_STD_REF_OBJ)},
                      row_of(lists.size()), lists.data(), path);
}

// Lists lie in heaps that HDF5 fills further whenever it has another one, and readers of this
// edition would see a heap that is half written. So the rest of the last one is filled now, and the
// file goes on behind it, so that it cannot grow either.
void fill_heap(hid_t root, std::size_t lists, const std::string& path) {
  constexpr std::size_t most_in_heap = 170;  // heap: 4096 bytes, head: 16, list: 16 and one address
  const std::size_t left = (most_in_heap - lists % most_in_heap) % most_in_heap;
  if (left > 0) {
    hobj_ref_t nothing = 0;
    const std::vector<hvl_t> rest(left, {1, &nothing});
    const h5::Object group = h5::make_group(root, H5P_DEFAULT, path);
    h5::write_attribute(group.raw(), "rest", h5::Type{H5Tvlen_create(H5T_STD_REF_OBJ)},
                        row_of(left), rest.data(), path);
  }
  if (lists > 0) {
    const h5::File file{h5::check(H5Iget_file_id(root), "find", path)};
    (void)h5::allot_metadata(file.raw(), 1);
  }
}

void write_uses(const Scale& scale, const std::string& path) {
  if (scale.uses.empty()) {
    return;
  }
  const h5::Type type{H5Tcreate(H5T_COMPOUND, sizeof(Use))};
  H5Tinsert(type.raw(), "dataset", HOFFSET(Use, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(type.raw(), "dimension", HOFFSET(Use, dimension), H5T_NATIVE_INT);
  h5::write_attribute(scale.dataset, "REFERENCE_LIST", type, row_of(scale.uses.size()),
                      scale.uses.data(), path);
}

// A scale refers to no others: such variables have the numbers of their dimensions.
void number_dimensions(const Scaled& variable, const std::vector<std::size_t>& numbers,
                       const std::string& path) {
  const std::vector<int> all{numbers.begin(), numbers.end()};
  h5::write_attribute(variable.dataset, "_Netcdf4Coordinates", h5::Type{H5Tcopy(H5T_NATIVE_INT)},
                      row_of(all.size()), all.data(), path);
}

}  // namespace

std::vector<std::string> names_in_file(const std::vector<Scaled>& variables) {
  std::set<std::string> dimensions;
  for (const auto& variable : variables) {
    for (const auto& dimension : variable.dimensions) {
      dimensions.insert(dimension.name);
    }
  }
  std::vector<std::string> names;
  for (const auto& variable : variables) {
    const bool is_other =
        dimensions.contains(variable.name) && !begins_with(variable, variable.name);
    names.push_back(is_other ? "_nc4_non_coord_" + variable.name : variable.name);
  }
  return names;
}

std::vector<h5::Dataset> add_dimensions(hid_t root, const std::vector<Scaled>& variables,
                                        const std::string& path) {
  std::vector<Scale> scales;
  std::vector<std::vector<std::size_t>> numbers;  // of each variable
  const auto links = names_in_file(variables);
  for (const auto& variable : variables) {
    auto& own = numbers.emplace_back();
    for (const auto& dimension : variable.dimensions) {
      const auto known = std::ranges::find_if(
          scales, [&](const Scale& scale) { return scale.dimension.name == dimension.name; });
      own.push_back(static_cast<std::size_t>(known - scales.begin()));
      if (known == scales.end()) {
        scales.emplace_back().dimension = dimension;
      }
    }
  }
  for (std::size_t number = 0; number < scales.size(); ++number) {
    become_scale(root, scales[number], static_cast<int>(number), variables, path);
  }
  std::size_t lists = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Scaled& variable = variables[i];
    const bool is_scale = begins_with(variable, variable.name);
    if (is_scale && numbers[i].size() > 1) {
      number_dimensions(variable, numbers[i], path);
    } else if (!is_scale && !numbers[i].empty()) {
      refer_to_scales(root, variable, links[i], numbers[i], scales, path);
      lists += numbers[i].size();
    }
  }
  fill_heap(root, lists, path);
  std::vector<h5::Dataset> times;
  for (auto& scale : scales) {
    write_uses(scale, path);
    if (scale.dimension.is_unlimited && scale.dimension.name == contents::time_dimension &&
        scale.own.raw() >= 0) {
      times.push_back(std::move(scale.own));
    }
  }
  return times;
}

}  // namespace iocomp::formats::cdf
