#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "formats/format.h"

namespace iocomp::formats::cdf {

/// Room on the disk for what a format library will write into a file. The libraries do not tell, or
/// do not survive, that a disk is full; so this must show before they write.
class ReservedRoom {
 public:
  /// @param file  of this writer; the first one's is used. Must outlive this.
  ReservedRoom(const std::string& path, const Descriptor& file, MPI_Comm writers);

  /// Set room aside for a file of `bytes`, if that was not done yet. Collective over the writers,
  /// with the same arguments.
  /// @throws Error{storage_failure} on all of them "cannot ACTION PATH: No space left on device".
  void reserve(std::int64_t bytes, const std::string& action);

  /// What the attributes of a file and of its variables take in it, at most.
  [[nodiscard]] static std::int64_t size_of_attributes(const Description& description);

 private:
  const std::string& path_;
  const Descriptor& file_;
  MPI_Comm writers_;
  std::int64_t reserved_ = 0;
};

}  // namespace iocomp::formats::cdf
