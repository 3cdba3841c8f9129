// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/format.h"

namespace iocomp::formats {

/// The hints of a file as an MPI_Info.
class MpiHints {
 public:
  /// @param weak  hints that those of the options override, such as those that a file system asks
  /// for (`file_system_hints`).
  /// @throws Error{invalid_setting} for a hint that is too long for this MPI.
  explicit MpiHints(const FormatOptions& options,
                    const std::vector<std::pair<std::string, std::string>>& weak = {});
  MpiHints(const MpiHints&) = delete;
  MpiHints& operator=(const MpiHints&) = delete;
  ~MpiHints();

  [[nodiscard]] MPI_Info raw() const noexcept { return raw_; }

 private:
  void set(const std::string& key, const std::string& value);

  MPI_Info raw_ = MPI_INFO_NULL;
};

}  // namespace iocomp::formats
