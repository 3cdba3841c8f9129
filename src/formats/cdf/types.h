// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "array/element_type.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

constexpr int text_number = 2;  ///< NC_CHAR, of text and of variables of characters

/// The number that netCDF gives to a type: NC_BYTE, ... NC_UINT64. The same in CDF-5 and NetCDF-4.
/// @throws Error{unsupported} for float16 and complex numbers.
[[nodiscard]] int type_number(array::ElementType type);
/// The other way round; nothing for types that iocomp has not.
[[nodiscard]] std::optional<array::ElementType> type_of(int number);
/// The value that netCDF reads where nothing was written: the variable's attribute _FillValue if it
/// has its type, else the one of netCDF for the type. One element, in native byte order.
[[nodiscard]] std::vector<std::byte> fill_value(array::ElementType type,
                                                const std::optional<Attribute>& own);

/// Returns the fill value among the attributes of a variable, if there is one. Files of netCDF do
/// not tell a character from a text of length one.
[[nodiscard]] std::optional<Attribute> own_fill_value(array::ElementType type,
                                                      const Attributes& attributes);

/// Without what names dimensions: that is told by the dimensions themselves.
[[nodiscard]] Attributes without_dimensions(const Attributes& attributes);

}  // namespace iocomp::formats::cdf
