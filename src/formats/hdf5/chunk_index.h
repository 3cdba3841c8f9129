// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/extent.h"
#include "formats/hdf5/buffered_file.h"

namespace iocomp::formats::h5 {

/// A chunk, as an index in a file tells it.
struct IndexedChunk {
  std::vector<std::int64_t> corner;
  Extent where;
};
/// All chunks of an index, in ascending order of their corners.
/// @param rank  dimensions of the dataset.
/// @throws Error{storage_failure} if it is no index.
[[nodiscard]] std::vector<IndexedChunk> indexed_chunks(const MetadataBuffer& buffer,
                                                       std::int64_t address, std::size_t rank);

/// Tells readers where the chunks of a dataset lie: a B-tree, version 1, node type 1
/// (specification, III.A.1). Full nodes never change; each edition of the file has nodes of its own
/// for the others.
class ChunkIndex {
 public:
  /// @param chunk  its extent, in elements.
  ChunkIndex(BufferedFile& file, std::vector<std::int64_t> chunk, std::int64_t element_bytes);

  /// A chunk behind all that are there. @param corner  of it, in elements of the dataset.
  void add(std::vector<std::int64_t> corner, const Extent& where);
  /// There are no chunks.
  void clear();
  /// Write what has changed since the edition was written.
  /// @return the address of the tree; undefined where there are no chunks.
  [[nodiscard]] std::int64_t write(int edition);

 private:
  struct Node {
    std::vector<IndexedChunk> entries;
    std::array<std::int64_t, 2> places{-1, -1};  // of the editions
  };
  [[nodiscard]] std::int64_t node_bytes() const;
  /// @param entry  a chunk, or the first one of a node, and where that lies.
  void add(std::size_t level, IndexedChunk entry);
  /// @param behind  an entry that comes after these; null: none.
  void store(std::size_t level, const std::vector<IndexedChunk>& entries,
             const IndexedChunk* behind, std::int64_t address) const;

  BufferedFile& file_;
  std::vector<std::int64_t> chunk_;
  std::int64_t element_bytes_;
  std::vector<Node> nodes_;         // the last of each level, from the leaves up
  std::vector<std::int64_t> last_;  // corner of the last chunk
  std::int64_t changes_ = 0;
  struct Written {
    std::int64_t changes = -1;
    std::int64_t root = -1;
  };
  std::array<Written, 2> written_{};  // of the editions
};

}  // namespace iocomp::formats::h5
