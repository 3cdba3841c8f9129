// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/element_type.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

constexpr int text_number = 2;  ///< NC_CHAR, of text and of variables of characters

/// The number that netCDF gives to a type: NC_BYTE, ... NC_UINT64. The same in CDF-5 and NetCDF-4.
/// @throws Error{unsupported} naming the format, and what it cannot hold: float16 and complex.
[[nodiscard]] int type_number(array::ElementType type, std::string_view format,
                              const std::string& what);
/// The other way round; nothing for types that iocomp has not.
[[nodiscard]] std::optional<array::ElementType> type_of(int number);
/// What netCDF reads where nothing was written: the value of the variable's attribute _FillValue,
/// if it is one of its type, else that of netCDF for the type. One element, in native byte order.
[[nodiscard]] std::vector<std::byte> fill_value(array::ElementType type,
                                                const std::optional<Attribute>& own);

/// Names that netCDF takes for variables and attributes.
/// @throws Error{unsupported} naming the format, the name and what is wrong with it.
void check_name(const std::string& name, std::string_view format, const std::string& what);

/// Both of the above, for a variable or an attribute.
void check(const Variable& variable, std::string_view format);
void check(const std::string& name, const Attribute& attribute, std::string_view format);

/// Say in the log that an attribute _FillValue came too late, or with another type.
void tell_of_left_out_fill_value(const std::string& path, const std::string& variable);

/// Without what names dimensions: that is told by the dimensions themselves.
[[nodiscard]] Attributes without_dimensions(const Attributes& attributes);

}  // namespace iocomp::formats::cdf
