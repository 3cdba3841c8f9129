// SPDX-License-Identifier: BSD-3-Clause
#include "formats/open_together.h"

#include <fcntl.h>
#include <mpi.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/failure.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::formats {
namespace {

constexpr std::int64_t errno_range = 1 << 16;

int open_error(const Descriptor& file) { return file.is_open() ? 0 : errno; }

}  // namespace

void agree_on_errno(int errno_value, const std::string& action, const std::string& path,
                    MPI_Comm writers, const mpi::WaitPolicy& wait) {
  int rank = 0;
  int size = 0;
  mpi::check(MPI_Comm_rank(writers, &rank));
  mpi::check(MPI_Comm_size(writers, &size));
  // The first that failed is the one with the greatest size - rank, and brings its errno along.
  const std::int64_t loudness = errno_value == 0 ? 0 : size - rank;
  std::array<std::int64_t, 1> loudest{loudness * errno_range + errno_value};
  mpi::maximum(writers, loudest, wait, "the other writers of a file");
  if (loudest[0] != 0) {
    const auto first_errno = static_cast<int>(loudest[0] % errno_range);
    throw Error{ErrorCode::storage_failure,
                "cannot " + action + ' ' + path + ": " +
                    std::generic_category().message(first_errno) + " (on writer " +
                    std::to_string(size - loudest[0] / errno_range) + ')'};
  }
}

Descriptor open_beside_others(const std::string& path, int access) {
  Descriptor file{::open(path.c_str(), access | O_CREAT | O_CLOEXEC, 0666)};
  if (!file.is_open()) {
    throw failure("create", path, errno);
  }
  return file;
}

Descriptor open_together(const std::string& path, MPI_Comm writers, const mpi::WaitPolicy& wait,
                         bool is_there) {
  int rank = 0;
  mpi::check(MPI_Comm_rank(writers, &rank));
  Descriptor file;
  int error = 0;
  if (rank == 0) {
    const int making = is_there ? 0 : O_CREAT | O_TRUNC;
    file = Descriptor{::open(path.c_str(), O_RDWR | making | O_CLOEXEC, 0666)};
    error = open_error(file);
  }
  agree_on_errno(error, "create", path, writers, wait);
  if (rank != 0) {
    file = Descriptor{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
    error = open_error(file);
  }
  agree_on_errno(error, "open", path, writers, wait);
  return file;
}

}  // namespace iocomp::formats
