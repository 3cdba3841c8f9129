// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/chunk_index.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/metadata_buffer.h"

namespace iocomp::formats::h5 {
namespace {

// Twice the "K" that files have whose superblock says nothing of it.
constexpr std::size_t most_entries = 64;
constexpr std::int64_t head_bytes = 24;
constexpr std::int64_t address_bytes = 8;

// A key: bytes, filters that were left out, the corner, the offset in an element.
constexpr std::size_t bytes_of_key(std::size_t rank) { return 8 + 8 * (rank + 1); }

void read_node(const MetadataBuffer& buffer, std::int64_t address, std::size_t rank,
               std::vector<IndexedChunk>& all) {
  constexpr std::size_t level_at = 5;
  constexpr std::size_t entries_at = 6;
  const auto read = [&](std::int64_t from, std::size_t bytes) {
    std::vector<std::byte> found(bytes);
    const int error = buffer.read(from, found);
    if (error != 0) {
      throw failure("read", "an index of chunks", error);
    }
    return found;
  };
  const auto head = read(address, head_bytes);
  if (std::memcmp(head.data(), "TREE\1", level_at) != 0) {
    throw Error{ErrorCode::storage_failure, "an index of chunks does not begin with TREE"};
  }
  const bool is_leaf = number_at(head, level_at, 1) == 0;
  const auto entries = static_cast<std::size_t>(number_at(head, entries_at, 2));
  const std::size_t each = bytes_of_key(rank) + address_bytes;
  const auto bytes = read(address + head_bytes, entries * each);
  for (std::size_t at = 0; at < bytes.size(); at += each) {
    const auto child =
        static_cast<std::int64_t>(number_at(bytes, at + bytes_of_key(rank), address_bytes));
    if (!is_leaf) {
      read_node(buffer, child, rank, all);
      continue;
    }
    IndexedChunk chunk;
    chunk.where = {child, static_cast<std::int64_t>(number_at(bytes, at, 4)),
                   static_cast<std::int64_t>(number_at(bytes, at + 4, 4))};
    for (std::size_t d = 0; d < rank; ++d) {
      chunk.corner.push_back(static_cast<std::int64_t>(number_at(bytes, at + 8 + 8 * d, 8)));
    }
    all.push_back(std::move(chunk));
  }
}

}  // namespace

std::vector<IndexedChunk> indexed_chunks(const MetadataBuffer& buffer, std::int64_t address,
                                         std::size_t rank) {
  std::vector<IndexedChunk> all;
  if (address != undefined_address) {
    read_node(buffer, address, rank, all);
  }
  return all;
}

ChunkIndex::ChunkIndex(BufferedFile& file, std::vector<std::int64_t> chunk,
                       std::int64_t element_bytes)
    : file_{file}, chunk_{std::move(chunk)}, element_bytes_{element_bytes} {}

// A reader takes all of it, however much is used.
std::int64_t ChunkIndex::node_bytes() const {
  const auto key_bytes = static_cast<std::int64_t>(bytes_of_key(chunk_.size()));
  const auto entries = static_cast<std::int64_t>(most_entries);
  return head_bytes + entries * address_bytes + (entries + 1) * key_bytes;
}

void ChunkIndex::add(std::vector<std::int64_t> corner, const Extent& where) {
  last_ = corner;
  ++changes_;
  add(0, {std::move(corner), where});
}

void ChunkIndex::add(std::size_t level, IndexedChunk entry) {
  if (level == nodes_.size()) {
    nodes_.emplace_back();
  }
  nodes_[level].entries.push_back(std::move(entry));
  if (nodes_[level].entries.size() == most_entries) {
    const auto full = std::exchange(nodes_[level].entries, {});
    const std::int64_t address = file_.take_metadata(node_bytes());
    store(level, full, nullptr, address);
    IndexedChunk node = full.front();
    node.where.offset = address;
    add(level + 1, std::move(node));
  }
}

// The places of the editions stay: readers may see one of them.
void ChunkIndex::clear() {
  for (auto& node : nodes_) {
    node.entries.clear();
  }
  ++changes_;
}

std::int64_t ChunkIndex::write(int edition) {
  Written& written = written_.at(static_cast<std::size_t>(edition));
  if (written.changes == changes_) {
    return written.root;
  }
  std::size_t levels = nodes_.size();
  while (levels > 0 && nodes_[levels - 1].entries.empty()) {
    --levels;
  }
  IndexedChunk below;  // the last node of the level below, if it is not full
  below.where.offset = undefined_address;
  for (std::size_t level = 0; level < levels; ++level) {
    const auto& entries = nodes_[level].entries;
    const IndexedChunk* behind = below.where.offset != undefined_address ? &below : nullptr;
    if (entries.empty() && behind == nullptr) {
      continue;
    }
    auto& place = nodes_[level].places.at(static_cast<std::size_t>(edition));
    if (place < 0) {
      place = file_.take_metadata(node_bytes());
    }
    store(level, entries, behind, place);
    if (!entries.empty()) {
      below = entries.front();
    }
    below.where.offset = place;
  }
  written = {changes_, below.where.offset};
  return written.root;
}

// Keys are on both sides of each child; the last one is behind all chunks of the node.
void ChunkIndex::store(std::size_t level, const std::vector<IndexedChunk>& entries,
                       const IndexedChunk* behind, std::int64_t address) const {
  Encoder encoder;
  encoder.put_text("TREE");
  encoder.put8(1);  // chunks
  encoder.put8(static_cast<std::uint8_t>(level));
  encoder.put16(static_cast<std::uint16_t>(entries.size() + (behind != nullptr ? 1 : 0)));
  encoder.put64(undefined_address);  // neighbours, which are only for those that look through all
  encoder.put64(undefined_address);
  const auto put_corner = [&](const std::vector<std::int64_t>& corner, bool is_behind) {
    for (std::size_t d = 0; d < chunk_.size(); ++d) {
      encoder.put64(corner[d] + (is_behind ? chunk_[d] : 0));
    }
    encoder.put64(is_behind ? element_bytes_ : 0);
  };
  const auto put = [&](const IndexedChunk& entry) {
    encoder.put32(static_cast<std::uint32_t>(entry.where.bytes));
    encoder.put32(static_cast<std::uint32_t>(entry.where.filter_mask));
    put_corner(entry.corner, false);
    encoder.put64(entry.where.offset);
  };
  for (const auto& entry : entries) {
    put(entry);
  }
  if (behind != nullptr) {
    put(*behind);
  }
  encoder.put32(0);
  encoder.put32(0);
  put_corner(last_, true);
  file_.buffer().write(address, encoder.take());
}

}  // namespace iocomp::formats::h5
