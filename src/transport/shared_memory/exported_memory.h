// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "transport/shared_memory/records.h"
#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {

/// Memory of this process that the others of the node may read in place.
class ExportedMemory {
 public:
  /// Reserve `bytes`, zeroed. @param staged  true if the library copies into it.
  /// @throws Error{out_of_staging_memory} when the system has no such memory.
  std::span<std::byte> add(std::size_t bytes, bool staged);
  /// @return the number by which others know it; 0 if it is no such memory.
  std::uint64_t remove(const std::byte* first);

  struct Place {
    RegionName region;
    std::uint64_t offset = 0;
  };
  /// The place of these bytes, if all of them lie in such memory.
  [[nodiscard]] std::optional<Place> find(std::span<const std::byte> bytes) const;

 private:
  struct Region {
    SharedMapping mapping;
    RegionName name;
  };
  std::map<const std::byte*, Region> regions_;  // by first byte
  std::uint64_t next_ = 1;
};

/// Exported memory of one other process, mapped for reading when it is first needed.
class ImportedMemory {
 public:
  struct View {
    std::span<const std::byte> bytes;
    std::shared_ptr<const SharedMapping> mapping;  ///< held while somebody reads
  };
  /// The bytes at `offset`; nothing if the system does not let this process map the region.
  [[nodiscard]] View view(int process, const RegionName& region, std::uint64_t offset,
                          std::size_t bytes);
  void forget(std::uint64_t region) { mapped_.erase(region); }

 private:
  std::map<std::uint64_t, std::shared_ptr<const SharedMapping>> mapped_;  // by id; empty: refused
};

}  // namespace iocomp::transport
