// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "array/box.h"
#include "base/descriptor.h"
#include "base/path.h"
#include "base/scratch_memory.h"
#include "base/spares.h"
#include "formats/sieve.h"
#include "formats/source.h"

namespace iocomp::formats {

/// Reads variables that lie in the file as they are in memory: native-endian, row-major, without
/// holes, beginning at `Placed::offset`. Long runs are read to their places. Short ones are read
/// one by one if the page cache has them, else in spans with the bytes between them. A large box is
/// divided among the threads.
class PlainSource : public Source {
 public:
  /// @throws Error{storage_failure}.
  explicit PlainSource(const Path& path);
  /// Reads a file that is open, and outlives this. @param path  for messages.
  PlainSource(const Descriptor& file, std::string path);
  PlainSource(Descriptor&& file, std::string path) = delete;

  void read(const Placed& where, const array::Box& box, const Destination& to) override;
  [[nodiscard]] Whereabouts whereabouts(const Placed& where) override;

 private:
  void check_offset(const Placed& where) const;
  void read_part(const Placed& where, const array::Box& box, const Destination& to);
  void read_group(const Sieve& sieve);
  void read_span(const Sieve& sieve, std::size_t next);
  [[nodiscard]] std::size_t take_cached(const Sieve& sieve);

  std::string path_;
  Descriptor own_;  // not open if somebody else owns the file
  const Descriptor& file_;
  Spares<ScratchMemory> spans_;
};

}  // namespace iocomp::formats
