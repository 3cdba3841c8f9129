// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/attributes.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "contents/variable.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

using Values = contents::Attribute;

Space space_of(const Values& values) {
  if (!values.is_list && (values.is_text || values.count() == 1)) {
    return Space{H5Screate(H5S_SCALAR)};
  }
  if (values.count() == 0) {
    return Space{H5Screate(H5S_NULL)};
  }
  const auto count = static_cast<hsize_t>(values.count());
  return Space{H5Screate_simple(1, &count, nullptr)};
}

}  // namespace

void write_attribute(hid_t object, const std::string& name, const Type& type, const Space& space,
                     const void* values, const std::string& path) {
  const std::string action = "write the attribute \"" + name + "\" to";
  const Properties utf8{H5Pcreate(H5P_ATTRIBUTE_CREATE)};
  check(H5Pset_char_encoding(utf8.raw(), H5T_CSET_UTF8), action, path);
  const Attribute attribute{
      check(H5Acreate2(object, name.c_str(), type.raw(), space.raw(), utf8.raw(), H5P_DEFAULT),
            action, path)};
  if (values != nullptr) {
    check(H5Awrite(attribute.raw(), type.raw(), values), action, path);
  }
}

void write_attributes(hid_t object, const Attributes& attributes, const std::string& path) {
  for (const auto& [name, values] : attributes) {
    const Space space = space_of(values);
    if (!values.is_text) {
      write_attribute(object, name, element_type(values.type), space,
                      values.count() == 0 ? nullptr : values.values.data(), path);
    } else if (values.is_list) {
      const auto texts = contents::c_texts_of(values);
      write_attribute(object, name, text_type(), space, static_cast<const void*>(texts.data()),
                      path);
    } else {
      const std::string text{contents::text_of(values)};
      const char* const first = text.c_str();
      write_attribute(object, name, text_type(), space, static_cast<const void*>(&first), path);
    }
  }
}

namespace {

herr_t note_name(hid_t /*object*/, const char* name, const H5A_info_t* /*about*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

// Padding is no part of a text.
herr_t read_texts(hid_t attribute, hid_t stored, std::size_t count, Values& values) {
  std::vector<std::string> texts;
  herr_t done = 0;
  if (is_any_text(stored)) {
    const Type type = text_type_of(stored);
    std::vector<char*> found(count, nullptr);
    done = H5Aread(attribute, type.raw(), static_cast<void*>(found.data()));
    for (char* const text : found) {
      texts.emplace_back(text == nullptr ? "" : text);
      H5free_memory(text);
    }
  } else {
    const std::size_t bytes = H5Tget_size(stored);
    std::string all(count * bytes, '\0');
    done = H5Aread(attribute, stored, all.data());
    for (std::size_t at = 0; at < all.size(); at += bytes) {
      texts.emplace_back(all.substr(at, bytes).c_str());
    }
  }
  values = contents::list_attribute(texts);
  return done;
}

herr_t read_text(hid_t attribute, hid_t stored, Values& values) {
  if (is_any_text(stored)) {
    const Type type = text_type_of(stored);
    char* text = nullptr;
    const herr_t done = H5Aread(attribute, type.raw(), static_cast<void*>(&text));
    if (done >= 0) {
      values = contents::text_attribute(text == nullptr ? std::string_view{} : text);
      H5free_memory(text);
    }
    return done;
  }
  std::string text(H5Tget_size(stored), '\0');
  const herr_t done = H5Aread(attribute, stored, text.data());
  values = contents::stored_text_attribute(text);
  return done;
}

// Returns nothing if iocomp has no such attributes.
std::optional<Values> read_values(hid_t attribute, const std::string& action,
                                  const std::string& path) {
  const Type stored{H5Aget_type(attribute)};
  const Space space{H5Aget_space(attribute)};
  const auto count = H5Sget_simple_extent_npoints(space.raw());
  Values values;
  if (H5Tget_class(stored.raw()) == H5T_STRING) {
    const bool is_list = H5Sget_simple_extent_ndims(space.raw()) == 1;
    if (count < 1 || (count > 1 && !is_list)) {
      return std::nullopt;
    }
    check(is_list ? read_texts(attribute, stored.raw(), static_cast<std::size_t>(count), values)
                  : read_text(attribute, stored.raw(), values),
          action, path);
    return values;
  }
  const auto type = element_type_of(stored.raw());
  if (!type) {
    return std::nullopt;
  }
  values.type = *type;
  values.values.resize(static_cast<std::size_t>(std::max<hssize_t>(count, 0)) *
                       array::size_bytes(*type));
  if (!values.values.empty()) {
    check(H5Aread(attribute, element_type(*type).raw(), values.values.data()), action, path);
  }
  return values;
}

}  // namespace

Attributes read_attributes(hid_t object, const std::string& path) {
  std::vector<std::string> names;
  check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, &note_name, &names),
        "list the attributes in", path);
  Attributes attributes;
  for (const auto& name : names) {
    const std::string action = "read the attribute \"" + name + "\" of";
    const Attribute opened{check(H5Aopen(object, name.c_str(), H5P_DEFAULT), action, path)};
    if (auto values = read_values(opened.raw(), action, path)) {
      attributes.emplace(name, *std::move(values));
    }
  }
  return attributes;
}

}  // namespace iocomp::formats::h5
