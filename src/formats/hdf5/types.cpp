// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/types.h"

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_chunks.h"

namespace iocomp::formats::h5 {
namespace {

Type half() {
  // 1 sign bit, 5 of exponent (bias 15), 10 of fraction. Fields before size: they must fit at every
  // moment.
  Type type{H5Tcopy(H5T_NATIVE_FLOAT)};
  H5Tset_fields(type.raw(), 15, 10, 5, 0, 10);
  H5Tset_size(type.raw(), 2);
  H5Tset_ebias(type.raw(), 15);
  return type;
}

Type complex(hid_t part, std::size_t part_bytes) {
  Type type{H5Tcreate(H5T_COMPOUND, 2 * part_bytes)};
  H5Tinsert(type.raw(), "r", 0, part);
  H5Tinsert(type.raw(), "i", part_bytes, part);
  return type;
}

}  // namespace

Type element_type(array::ElementType type) {
  using array::ElementType;
  switch (type) {
    case ElementType::int8:
      return Type{H5Tcopy(H5T_NATIVE_INT8)};
    case ElementType::int16:
      return Type{H5Tcopy(H5T_NATIVE_INT16)};
    case ElementType::int32:
      return Type{H5Tcopy(H5T_NATIVE_INT32)};
    case ElementType::int64:
      return Type{H5Tcopy(H5T_NATIVE_INT64)};
    case ElementType::uint8:
      return Type{H5Tcopy(H5T_NATIVE_UINT8)};
    case ElementType::uint16:
      return Type{H5Tcopy(H5T_NATIVE_UINT16)};
    case ElementType::uint32:
      return Type{H5Tcopy(H5T_NATIVE_UINT32)};
    case ElementType::uint64:
      return Type{H5Tcopy(H5T_NATIVE_UINT64)};
    case ElementType::float16:
      return half();
    case ElementType::float32:
      return Type{H5Tcopy(H5T_NATIVE_FLOAT)};
    case ElementType::float64:
      return Type{H5Tcopy(H5T_NATIVE_DOUBLE)};
    case ElementType::complex64:
      return complex(H5T_NATIVE_FLOAT, sizeof(float));
    case ElementType::complex128:
      return complex(H5T_NATIVE_DOUBLE, sizeof(double));
    case ElementType::character:
      return fixed_text_type(1);
  }
  throw Error{ErrorCode::unsupported, "HDF5 has no such element type"};
}

std::optional<array::ElementType> element_type_of(hid_t stored) {
  if (H5Tget_class(stored) == H5T_ENUM) {
    return element_type_of(Type{H5Tget_super(stored)}.raw());
  }
  // The native type of a half is a float: halves are asked for as they are stored.
  const Type native{H5Tget_native_type(stored, H5T_DIR_ASCEND)};
  for (const hid_t sought : {stored, native.raw()}) {
    for (int value = 1; array::element_type(value); ++value) {
      const auto type = *array::element_type(value);
      if (H5Tequal(sought, element_type(type).raw()) > 0) {
        return type;
      }
    }
  }
  return std::nullopt;
}

Type fixed_text_type(std::size_t bytes, H5T_str_t padding) {
  Type type{H5Tcopy(H5T_C_S1)};
  H5Tset_size(type.raw(), bytes);
  H5Tset_strpad(type.raw(), padding);
  H5Tset_cset(type.raw(), H5T_CSET_UTF8);
  return type;
}

Space space_of(std::span<const std::int64_t> extents) {
  if (extents.empty()) {
    return Space{H5Screate(H5S_SCALAR)};
  }
  const std::vector<hsize_t> all{extents.begin(), extents.end()};
  return Space{H5Screate_simple(static_cast<int>(all.size()), all.data(), nullptr)};
}

Stored stored_as(const Variable& variable) {
  Stored stored{element_type(variable.type), variable.shape};
  array::Shape& shape = stored.shape;
  if (holds_texts(variable)) {
    auto& length = shape.extent.at(static_cast<std::size_t>(--shape.dimensions));
    stored.type = fixed_text_type(static_cast<std::size_t>(length));
    length = 0;
  }
  return stored;
}

bool stored_alike(const Variable& one, const Variable& other) {
  const Stored first = stored_as(one);
  const Stored second = stored_as(other);
  return first.shape == second.shape && H5Tequal(first.type.raw(), second.type.raw()) > 0;
}

Type text_type() {
  Type type{H5Tcopy(H5T_C_S1)};
  H5Tset_size(type.raw(), H5T_VARIABLE);
  H5Tset_cset(type.raw(), H5T_CSET_UTF8);
  return type;
}

Type text_type_of(hid_t stored) {
  Type type = text_type();
  H5Tset_cset(type.raw(), H5Tget_cset(stored));
  return type;
}

bool is_any_text(hid_t stored) {
  return H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) > 0;
}

AnyTexts::AnyTexts(hid_t dataset, hid_t in_file, hsize_t texts, const std::string& path)
    : type_{text_type_of(Type{H5Dget_type(dataset)}.raw())},
      in_memory_{H5Screate_simple(1, &texts, nullptr)},
      texts_(static_cast<std::size_t>(texts)) {
  check(H5Dread(dataset, type_.raw(), in_memory_.raw(), in_file, H5P_DEFAULT,
                static_cast<void*>(texts_.data())),
        "read texts from", path);
}

AnyTexts::~AnyTexts() {
  H5Dvlen_reclaim(type_.raw(), in_memory_.raw(), H5P_DEFAULT, static_cast<void*>(texts_.data()));
}

std::string why_not_read(hid_t stored) {
  const auto bytes = std::to_string(H5Tget_size(stored));
  switch (H5Tget_class(stored)) {
    case H5T_INTEGER:
      return "an integer of " + bytes + " bytes, which iocomp has no type for";
    case H5T_FLOAT:
      return "a floating-point number of " + bytes + " bytes, which iocomp has no type for";
    case H5T_REFERENCE:
      return "references to other objects";
    case H5T_VLEN:
      return "sequences of any length";
    case H5T_ARRAY:
      return "an array in each element";
    case H5T_COMPOUND:
      return "a compound in each element";
    case H5T_OPAQUE:
      return "opaque elements of " + bytes + " bytes";
    case H5T_BITFIELD:
      return "fields of bits";
    case H5T_STRING:
      return "texts of any length";
    default:
      return "elements of a type that iocomp does not have";
  }
}

}  // namespace iocomp::formats::h5
