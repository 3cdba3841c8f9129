// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
#include "base/crew.h"
#include "formats/words.h"

namespace iocomp::formats {

/// The destination of a box that is read: a box of a local array.
struct Destination {
  array::MemoryBox memory;
  std::byte* local = nullptr;  ///< the first element of the local array
  Crew* crew = nullptr;        ///< the threads that read; null: the caller alone
};

/// The place where other programs find the elements of a variable in a step.
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

  /// Tells the number of the newest step with variables, if it is known. Called before the first
  /// `read`: from it follows how files of earlier releases called their steps.
  virtual void newest_step_is(std::int64_t /*number*/) {}

  /// Tells that a manifest says which variables each step has. Values of these that are not there
  /// are lost. Without one, nobody may have put them. Called before the first `read`.
  virtual void has_manifest() {}

  /// Read the elements of `box` of a variable in a step. Blocks until they are there.
  /// @param where  as the manifest or `inventory` has it; name and step identify the variable (ids
  /// are those of the reader).
  /// @pre the box lies inside the variable, and has as many elements per dimension as that of
  /// `to`.
  /// @throws Error{storage_failure}, also where the file ends early.
  virtual void read(const Placed& where, const array::Box& box, const Destination& to) = 0;

  /// The place of a variable, for programs that read the file by HDF5 or byte by byte.
  /// @param where  as for `read`. @throws Error{unsupported} where the format has neither.
  [[nodiscard]] virtual Whereabouts whereabouts(const Placed& where);

  /// True if the file shows by itself that it is complete. Such a file may be shorter than it was
  /// when it was committed: another program has written it anew. By default a format cannot show
  /// that.
  /// @param contents  those that a folder must have the files of.
  /// @throws Error{storage_failure} that tells what it lacks.
  [[nodiscard]] virtual bool is_whole(std::span<const Placed> /*contents*/) { return false; }

  /// True for a file of HDF5 that netCDF has written, without groups: the source of netCDF knows
  /// its dimensions.
  [[nodiscard]] virtual bool is_of_netcdf() { return false; }

  /// The contents that the file itself tells, for files without a manifest, with the numbers of its
  /// steps where it tells them (contents/step_numbers.h).
  /// @throws Error{unsupported}; Error{storage_failure}.
  [[nodiscard]] Inventory inventory();

 private:
  /// All that is in the file, by places of steps. By default a format cannot tell.
  [[nodiscard]] virtual Inventory look_through();
};

/// Reads for libraries that read dense blocks only: gives them bytes to read into, and `scatter`
/// brings these to their places. If the destination is dense, they are its own bytes and nothing is
/// copied.
class DenseBlock {
 public:
  DenseBlock(const Destination& to, std::size_t element_bytes);
  [[nodiscard]] std::byte* bytes() noexcept { return first_; }
  void scatter() noexcept;
  /// Take a box of one-byte elements out of a whole array, and bring them to their places.
  void scatter_of(const std::byte* whole, const array::Shape& shape, const array::Box& box);

 private:
  const Destination* to_;
  std::size_t element_bytes_;
  std::vector<std::byte> own_;
  std::byte* first_;
};

}  // namespace iocomp::formats
