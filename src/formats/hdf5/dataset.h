// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/hdf5/handle.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// The access that all targets need: aligned data, a format that HDF5 1.8 and later read, and
/// closing a file closes its objects. The caller sets the driver.
[[nodiscard]] Properties file_access(const FormatOptions& options);

/// Properties of a contiguous dataset that others write: it has its room from the beginning and is
/// never filled.
void let_others_write(const Properties& create);

/// The address of an object's header in its file.
/// @throws Error{storage_failure}, as all that follow.
[[nodiscard]] std::int64_t address_of(hid_t object, const std::string& path);

/// A group that no link leads to. It stays in the file when it is closed.
/// @param properties  of its creation.
[[nodiscard]] Object make_group(hid_t file, hid_t properties, const std::string& path);

/// The names of a file's datasets, where "a/b" is a dataset in a group.
class DatasetNames {
 public:
  /// @throws Error{storage_failure} where a dataset would have to be a group too.
  void add(const std::string& name, const std::string& path);

 private:
  std::set<std::string, std::less<>> names_;
};

/// Makes contiguous datasets in room that was allotted before, and is never filled.
class Creation {
 public:
  Creation();
  /// Room for a dataset.
  /// @return its offset; -1 where it has no bytes.
  [[nodiscard]] std::int64_t place(hid_t file, const Variable& variable, const std::string& path);
  /// @param group  that gets it, with groups between where its name has them.
  /// @param offset  of its data; without meaning where it has none.
  [[nodiscard]] Dataset dataset(hid_t file, hid_t group, const Variable& variable,
                                std::int64_t offset, const std::string& path);
  /// The same for some of what a file contains, with their attributes.
  void datasets(hid_t file, hid_t group, std::span<const Placed> contents,
                const std::vector<Attributes>& of_variable, const std::string& path);

 private:
  Properties link_;
  Properties create_;
  DatasetNames names_;
};

}  // namespace iocomp::formats::h5
