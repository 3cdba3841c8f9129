// SPDX-License-Identifier: BSD-3-Clause
#include "formats/link_file.h"

#include <cstddef>
#include <string>
#include <vector>

#include "formats/modules.h"

namespace iocomp::formats {

std::vector<std::byte> image_of(const LinkFile& file, const std::string& folder) {
  static constexpr ModuleKind links{.prefix = "libiocomp_links_",
                                    .symbol = "iocomp_links",
                                    .interface_version = iocomp_links_interface_version,
                                    .what = "what writes files of links with"};
  const void* entry = module_entry(links, "hdf5", folder);
  return static_cast<const iocomp_links_entry*>(entry)->image_of(file);
}

}  // namespace iocomp::formats
