// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "array/box.h"
#include "base/descriptor.h"
#include "base/path.h"
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
  /// Reads a file that is open. @param path  for messages.
  PlainSource(Descriptor file, std::string path);

  void read(const Placed& where, const array::Box& box, const Destination& to) override;
  [[nodiscard]] Whereabouts whereabouts(const Placed& where) override;

 private:
  void check_offset(const Placed& where) const;
  void read_part(const Placed& where, const array::Box& box, const Destination& to);
  void read_group(const Sieve& sieve);
  void read_span(const Sieve& sieve, std::size_t next);
  [[nodiscard]] std::size_t take_cached(const Sieve& sieve);
  void read_bytes(std::byte* to, std::size_t bytes, std::int64_t offset);

  std::string path_;
  Descriptor file_;
  std::mutex mutex_;
  // Guarded by it: memory of the size of a sieve's span that nobody uses; made when needed.
  std::vector<std::unique_ptr<std::byte[]>> spans_;
};

}  // namespace iocomp::formats
