// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace iocomp::apps::blocks {

/// @throws std::runtime_error with the call's name and the MPI's text unless `code` is MPI_SUCCESS.
inline void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string{call} + ": " + text);
}

/// Hints of the command line as an MPI_Info.
class Hints {
 public:
  explicit Hints(const std::vector<std::pair<std::string, std::string>>& hints) {
    check_mpi(MPI_Info_create(&info_), "MPI_Info_create");
    for (const auto& [key, value] : hints) {
      check_mpi(MPI_Info_set(info_, key.c_str(), value.c_str()), "MPI_Info_set");
    }
  }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  ~Hints() { MPI_Info_free(&info_); }

  [[nodiscard]] MPI_Info raw() const noexcept { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// MPI 3 counts in int. @throws std::runtime_error for a larger number.
inline int as_int(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<int>::max()) {
    throw std::runtime_error("an extent of " + std::to_string(value) +
                             " is more than MPI 3 can name");
  }
  return static_cast<int>(value);
}

}  // namespace iocomp::apps::blocks
