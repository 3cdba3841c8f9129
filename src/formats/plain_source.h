// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "array/box.h"
#include "base/descriptor.h"
#include "formats/sieve.h"
#include "formats/source.h"

namespace iocomp::formats {

/// Reads variables that lie in the file as they are in memory: native-endian, row-major, without
/// holes, beginning at `Placed::offset`. Long runs are read to where they belong; of short ones,
/// those that the page cache holds one by one, others in spans with what lies between them.
class PlainSource : public Source {
 public:
  /// @throws Error{storage_failure}.
  explicit PlainSource(std::string path);

  void read(const Placed& where, const array::Box& box, const Destination& to) override;

 private:
  void read_group(const Sieve& sieve);
  [[nodiscard]] std::size_t take_cached(const Sieve& sieve);
  void read_bytes(std::byte* to, std::size_t bytes, std::int64_t offset);

  std::string path_;
  Descriptor file_;
  std::unique_ptr<std::byte[]> span_;  // of the size of a sieve's span; made when needed
};

}  // namespace iocomp::formats
