// SPDX-License-Identifier: BSD-3-Clause
#include "formats/netcdf/attributes.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "array/element_type.h"
#include "contents/variable.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

h5::Type netcdf_type(array::ElementType type) {
  return type == array::ElementType::character ? h5::Type{H5Tcopy(H5T_C_S1)}
                                               : h5::element_type(array::part_of(type));
}

void write_netcdf_attributes(hid_t object, const Attributes& attributes, const std::string& path) {
  for (const auto& [name, attribute] : attributes) {
    const auto count = static_cast<hsize_t>(attribute.count());
    if (attribute.is_list) {  // of the type NC_STRING
      const auto texts = contents::c_texts_of(attribute);
      const h5::Space space{H5Screate_simple(1, &count, nullptr)};
      h5::write_attribute(object, name, h5::text_type(), space,
                          static_cast<const void*>(texts.data()), path);
      continue;
    }
    // One text is of the type NC_CHAR.
    const bool is_one = attribute.is_text || attribute.type == array::ElementType::character;
    const h5::Type type =
        is_one ? h5::fixed_text_type(std::max<std::size_t>(attribute.values.size(), 1),
                                     H5T_STR_NULLTERM)
               : netcdf_type(attribute.type);
    const h5::Space space{count == 0 ? H5Screate(H5S_NULL)
                          : is_one   ? H5Screate(H5S_SCALAR)
                                     : H5Screate_simple(1, &count, nullptr)};
    h5::write_attribute(object, name, type, space, count == 0 ? nullptr : attribute.values.data(),
                        path);
  }
}

}  // namespace iocomp::formats::cdf
