// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "array/element_type.h"
#include "contents/dimensions.h"
#include "contents/rules.h"
#include "contents/step_numbers.h"

namespace iocomp::formats {

// The rules of all formats. `iocomp info --rules` prints them as the table in
// docs/developers/formats.md.

namespace reserved {

/// Attributes that netCDF keeps for itself, because it hides them or makes them up, and those of
/// which HDF5 makes dimension scales.
inline constexpr std::array<std::string_view, 20> netcdf_attributes{"CLASS",
                                                                    "DIMENSION_LABELS",
                                                                    "DIMENSION_LIST",
                                                                    "NAME",
                                                                    "REFERENCE_LIST",
                                                                    "_ARRAY_DIMENSIONS",
                                                                    "_Codecs",
                                                                    "_Format",
                                                                    "_IsNetcdf4",
                                                                    "_NCProperties",
                                                                    "_NCZARR_ATTR",
                                                                    "_Netcdf4Coordinates",
                                                                    "_Netcdf4Dimid",
                                                                    "_SuperblockVersion",
                                                                    "_nc3_strict",
                                                                    "_nczarr_*",
                                                                    "_NCZARR_*",
                                                                    "_NCCOPY_*",
                                                                    "_QuantizeBitGroom*",
                                                                    "_QuantizeGranularBitRound*"};
/// netCDF gives such a name to a variable that is called like a dimension and is not its
/// coordinate.
inline constexpr std::array<std::string_view, 3> netcdf_variables{
    contents::step_numbers_name, contents::complex_dimension, "_nc4_non_coord_*"};
inline constexpr std::array<std::string_view, 1> netcdf_dimensions{contents::complex_dimension};
/// The numbers of the steps, there and below.
inline constexpr std::array<std::string_view, 1> hdf5_time_variables{contents::step_numbers_name};
inline constexpr std::array<std::string_view, 1> zarr_attributes{contents::step_numbers_name};
/// Names of its own, and such as no folder has.
inline constexpr std::array<std::string_view, 3> zarr_variables{"__*", "zarr.json*", "...*"};
/// The variable that a step gets if it has no other, and that of its number.
inline constexpr std::array<std::string_view, 2> adios2_variables{"iocomp_empty_step",
                                                                  contents::step_numbers_name};
/// The number of steps.
inline constexpr std::array<std::string_view, 1> adios2_hdf5_attributes{"NumSteps"};

}  // namespace reserved

namespace rules {

using contents::Rules;
using contents::Types;
using enum array::ElementType;

inline constexpr Types of_netcdf = Types::all().without({float16});
inline constexpr Types of_adios2 = Types::all().without({float16});

inline constexpr Rules posix{.format = "posix"};
inline constexpr Rules mpiio{.format = "mpiio"};

inline constexpr Rules hdf5{.format = "hdf5", .most_characters = std::int64_t{1} << 31};
inline constexpr Rules hdf5_flat{.format = "hdf5",
                                 .variant = "layout = \"flat\"",
                                 .has_steps_at_root = true,
                                 .most_characters = std::int64_t{1} << 31,
                                 .has_one_step = true};
inline constexpr Rules hdf5_time{.format = "hdf5",
                                 .variant = "layout = \"time\"",
                                 .has_steps_at_root = true,
                                 .reserved_variables = reserved::hdf5_time_variables,
                                 .most_characters = std::int64_t{1} << 31,
                                 .keeps_first_definitions = true};

inline constexpr Rules netcdf{.format = "netcdf",
                              .most_name_bytes = 240,
                              .has_groups = false,
                              .has_netcdf_names = true,
                              .reserved_variables = reserved::netcdf_variables,
                              .reserved_attributes = reserved::netcdf_attributes,
                              .reserved_dimensions = reserved::netcdf_dimensions,
                              .types = of_netcdf,
                              .splits_complex_numbers = true,
                              .attribute_types = of_netcdf.without({complex64, complex128}),
                              .least_texts_in_list = 2,
                              .has_dimensions = true,
                              .keeps_first_definitions = true};
inline constexpr Rules pnetcdf = [] {
  Rules rules = netcdf;
  rules.format = "pnetcdf";
  rules.least_texts_in_list = Rules::no_limit;
  rules.header_bytes = std::int64_t{256} << 10;
  return rules;
}();

inline constexpr Rules zarr{.format = "zarr",
                            .most_name_bytes = 240,
                            .has_groups = false,
                            .has_backslashes = false,
                            .reserved_variables = reserved::zarr_variables,
                            .reserved_attributes = reserved::zarr_attributes,
                            .types = Types::all().without({character}),
                            .has_dimensions = true,
                            .keeps_first_definitions = true};

inline constexpr Rules adios2_bp5{.format = "adios2",
                                  .variant = "engine = \"BP5\"",
                                  .joins_names = true,
                                  .reserved_variables = reserved::adios2_variables,
                                  .types = of_adios2,
                                  .attribute_types = of_adios2,
                                  .has_empty_attributes = false,
                                  .keeps_attribute_types = true};
inline constexpr Rules adios2_bp4 = [] {
  Rules rules = adios2_bp5;
  rules.variant = "engine = \"BP4\"";
  rules.most_text_bytes = 65535;
  rules.least_texts_in_list = 2;
  return rules;
}();
inline constexpr Rules adios2_hdf5 = [] {
  Rules rules = adios2_bp5;
  rules.variant = "engine = \"HDF5\"";
  rules.reserved_attributes = reserved::adios2_hdf5_attributes;
  rules.types = of_adios2.without({character});
  rules.has_empty_texts = false;
  rules.least_texts_in_list = Rules::no_limit;  // it pads shorter ones with blanks
  rules.most_text_bytes = 60000;
  rules.most_attribute_bytes = 60000;
  return rules;
}();

inline constexpr std::array all{posix,   mpiio, hdf5,       hdf5_time,  hdf5_flat,  netcdf,
                                pnetcdf, zarr,  adios2_bp5, adios2_bp4, adios2_hdf5};

}  // namespace rules
}  // namespace iocomp::formats
