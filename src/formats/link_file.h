// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "contents/variable.h"
#include "formats/source.h"

namespace iocomp::formats {

using Extent = std::vector<std::int64_t>;

/// Elements of a dataset that lie in another file. They have the same row-major order in both.
struct Link {
  std::string file;         ///< plain elements: an absolute path; else from where the links lie
  Whereabouts where;        ///< in it
  array::ElementType type;  ///< there; readers convert to that of the dataset
  Extent source;            ///< of the variable there
  Extent start;             ///< of the part that they are in the dataset
  Extent count;
};

/// It has values of its own, or links.
struct Dataset {
  std::string path;
  array::ElementType type = array::ElementType::float64;
  Extent extent;
  std::vector<std::byte> values{};
  std::vector<Link> links{};
  double missing = 0;  ///< elements that no link names; of real numbers alone
};

/// An HDF5 file that is made of links: the values stay where they are.
struct LinkFile {
  std::map<std::string, contents::Attributes> groups;  ///< by their paths
  std::vector<Dataset> datasets;
};

/// The bytes of that file, by the module `libiocomp_links_hdf5.so`, which is loaded at first use.
/// @param folder  see module_entry.
/// @throws Error{unsupported} where there is no such module; Error{storage_failure}.
[[nodiscard]] std::vector<std::byte> image_of(const LinkFile& file, const std::string& folder = {});

}  // namespace iocomp::formats

/// The symbol that the module exports; `interface_version` must be the core's.
extern "C" {
inline constexpr int iocomp_links_interface_version = 2;
struct iocomp_links_entry {
  int interface_version;
  std::vector<std::byte> (*image_of)(const iocomp::formats::LinkFile& file);
};
}
// The module defines: extern "C" __attribute__((visibility("default"))) const iocomp_links_entry
// iocomp_links;
