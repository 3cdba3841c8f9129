// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/extent.h"
#include "formats/hdf5/metadata_buffer.h"

namespace iocomp::formats::h5 {

/// A part of an object header (specification, IV.A).
struct HeaderMessage {
  enum Type : std::uint8_t {
    nothing = 0x00,
    dataspace = 0x01,
    link_info = 0x02,
    link = 0x06,
    layout = 0x08,
    group_info = 0x0a,
    continuation = 0x10,
    reference_count = 0x16,
  };
  std::uint8_t type = nothing;
  std::uint8_t flags = 0;
  std::vector<std::byte> bytes;
};

/// An object header of messages, version 2; and a block of messages that such a header goes on in.
[[nodiscard]] std::vector<std::byte> encode_object_header(std::span<const HeaderMessage> messages);
[[nodiscard]] std::vector<std::byte> encode_continuation(std::span<const HeaderMessage> messages);
/// The message that leads to such a block.
[[nodiscard]] HeaderMessage continued_at(const Extent& block);

/// The header of an object that HDF5 has written to a buffer: what iocomp copies of it, or changes.
class ObjectHeader {
 public:
  /// @throws Error{storage_failure} if it is no object header of version 2.
  ObjectHeader(const MetadataBuffer& buffer, std::int64_t address);

  /// All messages but those that hold the header together.
  [[nodiscard]] std::vector<HeaderMessage> messages() const;
  /// For a dataset: the address of its index of chunks. The two setters change its extent along the
  /// first dimension and that address; both changes are written by `store`.
  [[nodiscard]] std::int64_t index();
  void set_records(std::int64_t records);
  void set_index(std::int64_t address);
  void store(MetadataBuffer& buffer);

 private:
  struct Chunk {
    std::int64_t address = 0;
    std::vector<std::byte> bytes;
    std::size_t first = 0;  // of the messages
  };
  struct Found {
    Chunk* chunk = nullptr;
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };
  void read(const MetadataBuffer& buffer, std::int64_t address, std::size_t bytes,
            std::size_t first);
  template <typename Visit>
  void visit(Chunk& chunk, Visit&& visit) const;
  [[nodiscard]] Found find(std::uint8_t type);
  [[nodiscard]] Found find_chunked_layout();

  bool has_order_ = false;  // messages have their order of creation
  std::vector<Chunk> chunks_;
};

}  // namespace iocomp::formats::h5
