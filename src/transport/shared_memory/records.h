// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "array/memory_box.h"

/// The records that two processes of a node write into the ring between them. A record has a head,
/// a fixed part and, for some kinds, more bytes. Both processes run the same build on the same
/// machine, so these are plain structs.
namespace iocomp::transport {

enum class RecordKind : std::uint32_t {
  message = 1,      ///< a control message
  offer = 2,        ///< Offer, then the control message that the bulk data belong to
  taken = 3,        ///< Taken: the bulk data of a post are no longer needed
  credit = 4,       ///< Credit
  want_copy = 5,    ///< WantCopy: the receiver cannot read the memory by itself
  copy = 6,         ///< the bytes that a WantCopy asked for, in the order of asking
  region_gone = 7,  ///< RegionGone
  strided = 8,      ///< Strided, then the control message that the bulk data belong to
};

struct RecordHead {
  RecordKind kind{};
  std::uint32_t bytes = 0;  ///< bytes that follow
};

/// Names memory that the sender has mapped for all (ExportedMemory); id 0: none.
struct RegionName {
  std::uint64_t id = 0;
  std::int32_t descriptor = -1;  ///< of the sender
  std::uint32_t staged = 0;      ///< nonzero if the library copied into it
  std::uint64_t bytes = 0;       ///< size of the region
};

struct Offer {
  std::uint64_t post = 0;
  std::uint64_t address = 0;  ///< in the sender's memory
  std::uint64_t bytes = 0;
  RegionName region;                ///< that has the bytes
  std::uint64_t region_offset = 0;  ///< of the first byte
};

/// An Offer whose address is that of the whole array.
struct Strided {
  Offer offer;
  array::MemoryBox memory;
  std::uint64_t element_bytes = 0;
  std::int64_t first = 0;  ///< element of the packed order
};

inline constexpr std::size_t largest_fixed_bytes = sizeof(Strided);

struct Taken {
  std::uint64_t post = 0;
};

struct Credit {
  std::int64_t messages = 0;
};

struct WantCopy {
  std::uint64_t post = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct RegionGone {
  std::uint64_t id = 0;
};

}  // namespace iocomp::transport
