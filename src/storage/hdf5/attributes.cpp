#include "storage/hdf5/attributes.h"

#include <hdf5.h>

#include <cstring>
#include <string>

#include "storage/hdf5/error.h"
#include "storage/hdf5/handle.h"
#include "storage/hdf5/types.h"
#include "storage/variable.h"

namespace iocomp::storage::h5 {
namespace {

using Values = storage::Attribute;

Space space_of(const Values& values) {
  if (values.is_text || values.count() == 1) {
    return Space{H5Screate(H5S_SCALAR)};
  }
  if (values.count() == 0) {
    return Space{H5Screate(H5S_NULL)};
  }
  const auto count = static_cast<hsize_t>(values.count());
  return Space{H5Screate_simple(1, &count, nullptr)};
}

herr_t write_values(hid_t attribute, hid_t type, const Values& values) {
  if (!values.is_text) {
    return values.count() == 0 ? 0 : H5Awrite(attribute, type, values.values.data());
  }
  std::string text(values.values.size(), '\0');
  if (!text.empty()) {
    std::memcpy(text.data(), values.values.data(), text.size());
  }
  const char* first = text.c_str();
  return H5Awrite(attribute, type, static_cast<const void*>(&first));
}

}  // namespace

void write_attributes(hid_t object, const Attributes& attributes, const std::string& path) {
  for (const auto& [name, values] : attributes) {
    const std::string action = "write the attribute \"" + name + "\" to";
    const Type type = values.is_text ? text_type() : element_type(values.type);
    const Space space = space_of(values);
    const Properties utf8{H5Pcreate(H5P_ATTRIBUTE_CREATE)};
    check(H5Pset_char_encoding(utf8.raw(), H5T_CSET_UTF8), action, path);
    const Attribute attribute{
        check(H5Acreate2(object, name.c_str(), type.raw(), space.raw(), utf8.raw(), H5P_DEFAULT),
              action, path)};
    check(write_values(attribute.raw(), type.raw(), values), action, path);
  }
}

}  // namespace iocomp::storage::h5
