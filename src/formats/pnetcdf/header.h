// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "base/descriptor.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// The header of a CDF file: everything in it but the data. See "CDF-5 file format specification"
/// in the documentation of PnetCDF. iocomp writes CDF-5; other tools make CDF-1 and CDF-2 of it.
struct Header {
  int version = 5;  ///< or 1 or 2, of files of others
  struct Dimension {
    std::string name;
    std::int64_t length = 0;  ///< 0: of the records
  };
  struct Variable {
    std::string name;
    std::vector<std::size_t> dimensions;  ///< numbers, slowest first
    Attributes attributes;
    array::ElementType type = array::ElementType::float64;
    std::int64_t bytes = 0;  ///< of one record where it has records; without padding
    std::int64_t begin = 0;  ///< of its first byte in the file
  };
  std::int64_t records = 0;
  std::vector<Dimension> dimensions;
  Attributes attributes;
  std::vector<Variable> variables;  ///< in ascending order of `begin`, those with records last
};

/// Everything in such a file takes a multiple of so many bytes.
inline constexpr std::int64_t padding = 4;
/// Rounded up to that. @pre bytes is that of something in memory, or was rounded up already
[[nodiscard]] constexpr std::int64_t padded(std::int64_t bytes) {
  return (bytes + (padding - 1)) / padding * padding;
}

/// The offset of the number of records. Writing it makes one more record visible.
inline constexpr std::int64_t records_at = 4;
/// A number of eight bytes as it is in the file.
[[nodiscard]] std::vector<std::byte> encode_number(std::int64_t number);

/// The first byte of a variable in a record, or in the file if it has no records.
/// @throws Error{storage_failure} where the header has no such variable. @param path  for messages.
[[nodiscard]] std::int64_t begin_of(const Header& header, const std::string& variable,
                                    std::int64_t record, const std::string& path);

/// The end of the last element that the header tells of; nothing if that is beyond 63 bits.
[[nodiscard]] std::optional<std::int64_t> end_of_elements(const Header& header);

/// The bytes with which the file begins, of CDF-5.
[[nodiscard]] std::vector<std::byte> encode(const Header& header);
/// The other way round. @param bytes  with which a file begins.
/// @return nothing where the header is longer than that.
/// @throws Error{storage_failure} if it is no such header.
[[nodiscard]] std::optional<Header> decode(std::span<const std::byte> bytes);
/// The header of a file; nothing where the file ends inside.
/// @param path  for messages. @throws Error{storage_failure}.
[[nodiscard]] std::optional<Header> read_header(const Descriptor& file, const std::string& path);

}  // namespace iocomp::formats::cdf
