// SPDX-License-Identifier: BSD-3-Clause
#include "shared_folder.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/descriptor.h"

namespace iocomp::formats {

int rank() {
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return value;
}

int ranks() {
  int value = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return value;
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

bool on_some_rank(bool holds) {
  int value = holds ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return value != 0;
}

SharedFolder::SharedFolder() {
  std::array<char, 4096> path{};
  if (rank() == 0) {
    const std::string pattern =
        (std::filesystem::temp_directory_path() / "iocomp-test-XXXXXX").string();
    std::memcpy(path.data(), pattern.c_str(), pattern.size() + 1);
    if (::mkdtemp(path.data()) == nullptr) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  path_ = path.data();
}

SharedFolder::~SharedFolder() {
  barrier();
  if (rank() == 0) {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
}

SmallDisk::SmallDisk(const SharedFolder& folder, long bytes, bool read_only)
    : path_{folder / "small"} {
  bool mounted = false;
  if (rank() == 0) {
    std::filesystem::create_directory(path_);
    const std::string size = "size=" + std::to_string(bytes);
    mounted =
        ::mount("tmpfs", path_.c_str(), "tmpfs", read_only ? MS_RDONLY : 0, size.c_str()) == 0;
  }
  is_mounted_ = on_some_rank(mounted);
}

SmallDisk::~SmallDisk() {
  barrier();
  if (rank() == 0 && is_mounted_) {
    ::umount2(path_.c_str(), MNT_DETACH);
  }
  barrier();
}

void SmallDisk::fill() const {
  const Descriptor file{::open((path_ + "/filler").c_str(), O_WRONLY | O_CREAT, 0666)};
  const std::array<char, 4096> page{};
  while (::write(file.raw(), page.data(), page.size()) > 0) {
  }
}

}  // namespace iocomp::formats
