// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "formats/format.h"
#include "formats/hdf5/handle.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// @throws Error{invalid_setting} for a filter that HDF5 finds neither among its own nor in a
/// plug-in.
void check_library_filters(const FormatOptions& options);
/// The same for a variable that its filter cannot take. @throws Error{invalid_setting}.
void check_library_filter(const Variable& variable, const FormatOptions& options);

/// Has HDF5 filter the chunks of a variable, in a file that is in memory alone. So the filter does
/// what it would do in a file, whatever it is. HDF5 bears one thread, and so does this.
class LibraryFilter {
 public:
  /// @pre the chunks of the variable go through such a filter.
  /// @throws Error{invalid_setting} if the filter cannot take them; Error{storage_failure}.
  LibraryFilter(const Variable& variable, const FormatOptions& options);

  /// Filter a chunk. @return HDF5's mask: not 0 if the filter left the chunk as it is.
  /// @throws Error{storage_failure}.
  std::uint32_t filter(std::span<const std::byte> whole, std::vector<std::byte>& to) const;
  /// The values that the filter works with. It may make them of those in the settings.
  [[nodiscard]] std::vector<unsigned> values() const;
  /// The shape of the variable, as it was then.
  [[nodiscard]] const array::Shape& shape() const noexcept { return shape_; }

 private:
  std::string name_;
  array::Shape shape_;
  Type type_;
  File file_;
  Dataset dataset_;  // of one chunk
};

}  // namespace iocomp::formats::h5
