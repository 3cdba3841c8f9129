// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "base/path.h"
#include "formats/format.h"

namespace iocomp::formats {

/// The bytes of the back-end posix, written through MPI-IO: one file that all writers have open
/// together, and independent writes at the offsets of the layout.
class MpiIoTarget : public SharedTarget {
 public:
  /// Collective over `writers`.
  MpiIoTarget(const Path& path, const FormatOptions& options, MPI_Comm writers);
  /// Leaks the MPI file if it is open: closing it is collective, and the other writers may not
  /// follow.
  ~MpiIoTarget() override = default;

  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  void finish(const Description& description) override;

 private:
  void write_run(std::int64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] int grow_to(std::int64_t bytes) const noexcept;  // errno, or 0

  std::string path_;
  Descriptor plain_;  // to fsync without a collective call, and to learn why a write was short
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace iocomp::formats
