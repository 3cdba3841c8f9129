// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "array/element_type.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

constexpr int text_number = 2;  ///< NC_CHAR, of text and of variables of characters

/// The number that netCDF gives to a type: NC_BYTE, ... NC_UINT64. The same in CDF-5 and NetCDF-4.
/// That of complex numbers is that of their parts. @throws Error{unsupported} for float16.
[[nodiscard]] int type_number(array::ElementType type);
/// The other way round, for real numbers and text; nothing for types that iocomp has not.
[[nodiscard]] std::optional<array::ElementType> type_of(int number);
/// The type of a variable of these numbers, if that is its last dimension and iocomp has written
/// it; nothing for real numbers.
[[nodiscard]] std::optional<array::ElementType> complex_type(array::ElementType part,
                                                             std::string_view last_dimension);
/// The value that netCDF reads where nothing was written: the variable's attribute _FillValue if it
/// has its type, else the one of netCDF for the type. One element, in native byte order.
[[nodiscard]] std::vector<std::byte> fill_value(array::ElementType type,
                                                const std::optional<Attribute>& own);

/// Returns the fill value among the attributes of a variable, if there is one. Files of netCDF do
/// not tell a character from a text of length one, and complex numbers have there one real number
/// for both parts.
[[nodiscard]] std::optional<Attribute> own_fill_value(array::ElementType type,
                                                      const Attributes& attributes);

/// The attributes of a variable as netCDF has them: without what names dimensions, which is told by
/// the dimensions themselves; of a fill value of complex numbers one part.
[[nodiscard]] Attributes attributes_in_file(const Attributes& attributes);

}  // namespace iocomp::formats::cdf
