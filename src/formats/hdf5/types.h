// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/hdf5/handle.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// The type of elements in memory and, because no conversion is wanted, in the file. Complex
/// numbers are a compound {r, i}, float16 is an IEEE half, both as h5py has them.
[[nodiscard]] Type element_type(array::ElementType type);

/// The type whose elements the library turns such elements into without loss, or nothing. Named
/// values (enumerations, and so bool of h5py) are the integers that they are stored as.
[[nodiscard]] std::optional<array::ElementType> element_type_of(hid_t stored);

/// Text of `bytes` bytes, UTF-8, filled up with zeros. @pre bytes > 0.
[[nodiscard]] Type fixed_text_type(std::size_t bytes, H5T_str_t padding = H5T_STR_NULLPAD);

/// A space of these extents; a scalar if there are none.
[[nodiscard]] Space space_of(std::span<const std::int64_t> extents);

/// A variable as HDF5 stores it: the type of its elements, and their number. The last dimension of
/// characters becomes the length of strings.
struct Stored {
  Type type;
  array::Shape shape;
};
[[nodiscard]] Stored stored_as(const Variable& variable);
/// True if both have the same type in HDF5 (a character and a text of length one do).
[[nodiscard]] bool stored_alike(const Variable& one, const Variable& other);

/// Text of any length, UTF-8, zero-terminated.
[[nodiscard]] Type text_type();
/// The same, in the characters of what is stored: UTF-8 and ASCII are not turned into one another.
[[nodiscard]] Type text_type_of(hid_t stored);

/// True for texts of any length.
[[nodiscard]] bool is_any_text(hid_t stored);

/// Texts of any length as HDF5 hands them out, freed with this.
class AnyTexts {
 public:
  /// @param texts  their number. @throws Error{storage_failure}.
  AnyTexts(hid_t dataset, hid_t in_file, hsize_t texts, const std::string& path);
  AnyTexts(const AnyTexts&) = delete;
  AnyTexts& operator=(const AnyTexts&) = delete;
  ~AnyTexts();

  [[nodiscard]] std::span<char* const> texts() const noexcept { return texts_; }

 private:
  Type type_;
  Space in_memory_;
  std::vector<char*> texts_;
};

/// The reason why elements of a type that `element_type_of` does not know are not read.
[[nodiscard]] std::string why_not_read(hid_t stored);

}  // namespace iocomp::formats::h5
