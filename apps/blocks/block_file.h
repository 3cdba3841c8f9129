// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blocks/block.h"

/// Files of blocks, in whatever way they are written.
namespace iocomp::apps::blocks {

/// The one variable of every file.
inline constexpr const char* variable_name = "array";
/// Arrays of values that a file may hold on to at once.
inline constexpr std::size_t slots = 2;

/// A file to be made, or to be read.
struct Target {
  std::string path;
  MPI_Comm comm = MPI_COMM_NULL;  ///< the ranks that share the file
  Block block;                    ///< of this rank in this file
  int steps = 1;
  bool durable = true;  ///< whether `finish` waits until the file is on the disk
  std::vector<std::pair<std::string, std::string>> hints;  ///< for MPI-IO
};

/// A file that is being written. All calls are collective over the ranks that share it.
class BlockFile {
 public:
  BlockFile() = default;
  BlockFile(const BlockFile&) = delete;
  BlockFile& operator=(const BlockFile&) = delete;
  virtual ~BlockFile() = default;

  /// Write this rank's block of the next step, row-major. The values stay as they are until `wait`
  /// was called for the slot. @pre no put is open in the slot.
  virtual void put(std::size_t slot, std::span<const double> values) = 0;
  virtual void wait(std::size_t /*slot*/) {}
  /// Return when all is written, and durable if that was asked for: what belongs to the time.
  virtual void finish() = 0;
  /// The work left to do after the time was taken.
  virtual void close() {}
};

/// A file that is being read. All calls are collective over the ranks that share it.
class BlockReader {
 public:
  BlockReader() = default;
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  virtual ~BlockReader() = default;

  /// Read a box of one step, row-major: any box, also an empty one.
  virtual void read(int step, const Box& box, std::span<double> values) = 0;
  virtual void close() {}
};

}  // namespace iocomp::apps::blocks
