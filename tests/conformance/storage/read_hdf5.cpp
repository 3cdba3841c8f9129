// SPDX-License-Identifier: BSD-3-Clause
#include "read_hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/format.h"

namespace iocomp::formats {
namespace {

// Closed by the process's end at the latest: a test that reads has nothing to lose.
hid_t open_file(const std::string& path) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  H5Pclose(access);
  return file;
}

H5T_class_t expected_class(array::ElementType type) {
  const auto value = static_cast<int>(type);
  if (type == array::ElementType::character) {
    return H5T_STRING;
  }
  if (value >= static_cast<int>(array::ElementType::complex64)) {
    return H5T_COMPOUND;
  }
  return value >= static_cast<int>(array::ElementType::float16) ? H5T_FLOAT : H5T_INTEGER;
}

// Takes the last dimension of characters from the shape: they are strings of that length.
// @return the bytes of what HDF5 takes for an element.
std::size_t fold(Variable& variable) {
  if (variable.type != array::ElementType::character || variable.bytes() == 0 ||
      variable.shape.dimensions == 0) {
    return array::size_bytes(variable.type);
  }
  --variable.shape.dimensions;
  return static_cast<std::size_t>(
      variable.shape.extent.at(static_cast<std::size_t>(variable.shape.dimensions)));
}

bool has_type_and_shape(hid_t dataset, Variable variable) {
  const hid_t type = H5Dget_type(dataset);
  const hid_t space = H5Dget_space(dataset);
  std::array<hsize_t, array::max_dimensions> extent{};
  const int dimensions = H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  const std::size_t bytes = fold(variable);
  bool same = H5Tget_class(type) == expected_class(variable.type) && H5Tget_size(type) == bytes &&
              dimensions == variable.shape.dimensions;
  for (std::size_t d = 0; same && d < static_cast<std::size_t>(dimensions); ++d) {
    same = extent.at(d) == static_cast<hsize_t>(variable.shape.extent.at(d));
  }
  return same;
}

// A record of a dataset that grows along time.
std::vector<std::byte> read_record(hid_t file, const Placed& placed) {
  Variable variable = placed.variable;
  std::vector<std::byte> bytes(static_cast<std::size_t>(variable.bytes()));
  if (bytes.empty()) {
    return bytes;  // such a variable has no dataset
  }
  const std::size_t element_bytes = fold(variable);
  const hid_t dataset = H5Dopen2(file, ('/' + variable.name).c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  const std::size_t dimensions = static_cast<std::size_t>(variable.shape.dimensions) + 1;
  std::array<hsize_t, array::max_dimensions + 1> extent{};
  std::array<hsize_t, array::max_dimensions + 1> most{};
  bool fits = H5Tget_size(H5Dget_type(dataset)) == element_bytes &&
              H5Sget_simple_extent_dims(space, extent.data(), most.data()) ==
                  static_cast<int>(dimensions) &&
              extent[0] > static_cast<hsize_t>(placed.step) && most[0] == H5S_UNLIMITED;
  for (std::size_t d = 1; d < dimensions; ++d) {
    fits = fits && extent.at(d) == static_cast<hsize_t>(variable.shape.extent.at(d - 1));
  }
  std::array<hsize_t, array::max_dimensions + 1> start{static_cast<hsize_t>(placed.step)};
  extent[0] = 1;
  const auto elements = static_cast<hsize_t>(array::elements(variable.shape));
  const hid_t memory = H5Screate_simple(1, &elements, nullptr);
  if (!fits ||
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) <
          0 ||
      H5Dread(dataset, H5Dget_type(dataset), memory, space, H5P_DEFAULT, bytes.data()) < 0) {
    bytes.clear();
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> read_hdf5(const std::string& path, const Placed& placed) {
  const hid_t file = open_file(path);
  const std::string group = '/' + std::to_string(placed.step);
  if (H5Lexists(file, group.c_str(), H5P_DEFAULT) <= 0) {
    auto record = read_record(file, placed);
    H5Fclose(file);
    return record;
  }
  const std::string name = group + '/' + placed.variable.name;
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  std::vector<std::byte> bytes;
  if (dataset >= 0 && has_type_and_shape(dataset, placed.variable)) {
    bytes.resize(static_cast<std::size_t>(placed.variable.bytes()));
    if (H5Dread(dataset, H5Dget_type(dataset), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
      bytes.clear();
    }
  }
  H5Fclose(file);
  return bytes;
}

bool hdf5_has(const std::string& path, const std::string& object) {
  const hid_t file = open_file(path);
  const bool found = H5Oexists_by_name(file, object.c_str(), H5P_DEFAULT) > 0;
  H5Fclose(file);
  return found;
}

std::string hdf5_attribute(const std::string& path, const std::string& object,
                           const std::string& name) {
  const hid_t file = open_file(path);
  const hid_t attribute =
      H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  std::ostringstream text;
  if (attribute < 0) {
    text << "missing";
  } else if (H5Tis_variable_str(type) > 0) {
    char* value = nullptr;
    H5Aread(attribute, type, static_cast<void*>(&value));
    text << value;
    H5free_memory(value);
  } else {
    const std::size_t parts = H5Tget_class(type) == H5T_COMPOUND ? 2 : 1;
    const auto count = static_cast<std::size_t>(
        std::max<hssize_t>(H5Sget_simple_extent_npoints(H5Aget_space(attribute)), 0));
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 2 * sizeof(double));
    H5Tinsert(pair, "r", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(pair, "i", sizeof(double), H5T_NATIVE_DOUBLE);
    std::vector<double> values(count * parts);
    H5Aread(attribute, parts == 2 ? pair : H5T_NATIVE_DOUBLE, values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      text << (i == 0 ? "" : " ") << values[i];
    }
  }
  H5Fclose(file);
  return text.str();
}

}  // namespace iocomp::formats
