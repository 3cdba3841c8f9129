// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
#include "base/crew.h"
#include "formats/words.h"

namespace iocomp::formats {

/// Where the elements of a box go: into a box of a local array.
struct Destination {
  array::MemoryBox memory;
  std::byte* local = nullptr;  ///< the first element of the local array
  Crew* crew = nullptr;        ///< the threads that read; null: the caller alone
};

/// Where other programs find the elements of a variable in a step.
struct Whereabouts {
  std::string dataset;       ///< its path in an HDF5 file; empty: plain elements
  std::int64_t record = -1;  ///< its place along the first dimension of the dataset, which the
                             ///< variable does not have; -1: nor has the dataset
  std::int64_t offset = -1;  ///< of plain elements: the first byte in the file
  std::endian byte_order = std::endian::native;
};

/// One committed file, open for reading. Local to its process. Any number of threads may read at a
/// time: a source whose library serves one alone lets them wait.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// What is read is of a file whose newest step with variables has this number. Before the first
  /// `read`, where it is known: it tells what files of earlier releases called their steps.
  virtual void newest_step_is(std::int64_t /*number*/) {}

  /// Read the elements of `box` of a variable in a step. Blocks until they are there.
  /// @param where  as the manifest or `inventory` has it; name and step say what is meant (ids are
  /// those of the reader).
  /// @pre the box lies inside the variable, and has as many elements per dimension as that of
  /// `to`.
  /// @throws Error{storage_failure}, also where the file ends early.
  virtual void read(const Placed& where, const array::Box& box, const Destination& to) = 0;

  /// Where a variable lies, for programs that read the file by HDF5 or byte by byte.
  /// @param where  as for `read`. @throws Error{unsupported} where the format has neither.
  [[nodiscard]] virtual Whereabouts whereabouts(const Placed& where);

  /// Whether the file shows by itself that all of it is there. Such a file may be shorter than it
  /// was when it was committed: another program has written it anew. By default a format cannot.
  [[nodiscard]] virtual bool is_whole() { return false; }

  /// What the file tells of itself, for files without a manifest. By default a format cannot.
  /// @throws Error{unsupported}; Error{storage_failure}.
  [[nodiscard]] virtual Inventory inventory();
};

/// For libraries that read dense blocks only: bytes to read into, and `scatter` to bring them to
/// their place; where the destination is dense itself they are its own, and nothing is copied.
class DenseBlock {
 public:
  DenseBlock(const Destination& to, std::size_t element_bytes);
  [[nodiscard]] std::byte* bytes() noexcept { return first_; }
  void scatter() noexcept;

 private:
  const Destination* to_;
  std::size_t element_bytes_;
  std::vector<std::byte> own_;
  std::byte* first_;
};

}  // namespace iocomp::formats
