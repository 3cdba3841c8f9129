// SPDX-License-Identifier: BSD-3-Clause
#include "foreign_hdf5.h"

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

namespace iocomp::formats {
namespace {

void write_text(hid_t object, const char* name, hid_t type, const void* text) {
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, text);
  H5Aclose(attribute);
  H5Sclose(scalar);
  H5Tclose(type);
}

hid_t text_type(std::size_t bytes) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, bytes);
  return type;
}

void write_temperature(hid_t file) {
  const std::array<hsize_t, 2> extent{6, 7};
  const std::array<hsize_t, 2> chunk{4, 3};
  std::array<float, 42> values{};
  std::iota(values.begin(), values.end(), 0.0F);
  const hid_t space = H5Screate_simple(2, extent.data(), nullptr);
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(create, 2, chunk.data());
  H5Pset_deflate(create, 6);
  const hid_t set =
      H5Dcreate2(file, "temperature", H5T_IEEE_F32BE, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  const char* const units = "K";
  write_text(set, "units", text_type(H5T_VARIABLE), static_cast<const void*>(&units));
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t scale = H5Acreate2(set, "scale", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
  const double half = 0.5;
  H5Awrite(scale, H5T_NATIVE_DOUBLE, &half);
  H5Aclose(scale);
  H5Sclose(scalar);
  H5Dclose(set);
  H5Pclose(create);
  H5Sclose(space);
}

void write_counts(hid_t file) {
  const hsize_t extent = 5;
  const std::array<std::int16_t, 5> values{0, -1, -2, -3, -4};
  const hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t set =
      H5Dcreate2(group, "counts", H5T_NATIVE_INT16, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set);
  H5Sclose(space);
  H5Gclose(group);
}

void write_name(hid_t file) {
  const hid_t type = text_type(8);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t set = H5Dcreate2(file, "name", type, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, "somebody");
  H5Dclose(set);
  H5Sclose(scalar);
  H5Tclose(type);
}

}  // namespace

void write_foreign_hdf5(const std::string& path) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  write_temperature(file);
  write_counts(file);
  write_name(file);
  write_text(file, "title", text_type(10), "foreign\0\0");
  H5Fclose(file);
}

}  // namespace iocomp::formats
