// SPDX-License-Identifier: BSD-3-Clause
#include "formats/netcdf/attributes.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "array/element_type.h"
#include "contents/variable.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

h5::Type string_type(std::size_t bytes) {
  h5::Type type{H5Tcopy(H5T_C_S1)};
  H5Tset_size(type.raw(), bytes);
  H5Tset_strpad(type.raw(), H5T_STR_NULLTERM);
  H5Tset_cset(type.raw(), H5T_CSET_UTF8);
  return type;
}

h5::Type netcdf_type(array::ElementType type) {
  return type == array::ElementType::character ? h5::Type{H5Tcopy(H5T_C_S1)}
                                               : h5::element_type(array::part_of(type));
}

void write_attribute(hid_t object, const std::string& name, const h5::Type& type,
                     const h5::Space& space, const void* values, const std::string& path) {
  const std::string action = "write the attribute \"" + name + "\" to";
  const h5::Properties utf8{H5Pcreate(H5P_ATTRIBUTE_CREATE)};
  h5::check(H5Pset_char_encoding(utf8.raw(), H5T_CSET_UTF8), action, path);
  const h5::Attribute attribute{
      h5::check(H5Acreate2(object, name.c_str(), type.raw(), space.raw(), utf8.raw(), H5P_DEFAULT),
                action, path)};
  if (values != nullptr) {
    h5::check(H5Awrite(attribute.raw(), type.raw(), values), action, path);
  }
}

void write_netcdf_attributes(hid_t object, const Attributes& attributes, const std::string& path) {
  for (const auto& [name, attribute] : attributes) {
    const auto count = static_cast<hsize_t>(attribute.count());
    if (attribute.is_list) {  // of the type NC_STRING
      const auto texts = contents::c_texts_of(attribute);
      const h5::Space space{H5Screate_simple(1, &count, nullptr)};
      write_attribute(object, name, h5::text_type(), space, static_cast<const void*>(texts.data()),
                      path);
      continue;
    }
    // One text is of the type NC_CHAR.
    const bool is_one = attribute.is_text || attribute.type == array::ElementType::character;
    const h5::Type type = is_one ? string_type(std::max<std::size_t>(attribute.values.size(), 1))
                                 : netcdf_type(attribute.type);
    const h5::Space space{count == 0 ? H5Screate(H5S_NULL)
                          : is_one   ? H5Screate(H5S_SCALAR)
                                     : H5Screate_simple(1, &count, nullptr)};
    write_attribute(object, name, type, space, count == 0 ? nullptr : attribute.values.data(),
                    path);
  }
}

}  // namespace iocomp::formats::cdf
