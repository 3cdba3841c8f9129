// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/open_folder.h"
#include "base/wire.h"

namespace iocomp {

/// The address of a folder in a message.
inline void put(WireWriter& writer, const FolderAddress& address) {
  writer.put_text(address.path);
  writer.put(address.device);
  writer.put(address.inode);
  writer.put(address.system);
}

[[nodiscard]] inline FolderAddress get_folder_address(WireReader& reader) {
  FolderAddress address;
  address.path = reader.get_text();
  address.device = reader.get<std::uint64_t>();
  address.inode = reader.get<std::uint64_t>();
  address.system = reader.get<std::uint64_t>();
  return address;
}

}  // namespace iocomp
