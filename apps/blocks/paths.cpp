// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/paths.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>

namespace iocomp::apps::blocks {
namespace {

namespace fs = std::filesystem;

void for_each_file(const fs::path& path, const std::function<void(int)>& visit) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "open " + path.string());
  try {
    visit(file);
  } catch (const std::system_error& error) {
    close(file);
    throw std::system_error(error.code(), path.string());
  }
  close(file);
  if (!fs::is_directory(path)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator{path}) {
    for_each_file(entry.path(), visit);
  }
}

}  // namespace

void make_durable(MPI_Comm comm, const std::string& path) {
  MPI_Barrier(comm);
  for_each_file(path, [](int file) {
    if (fsync(file) != 0) throw std::system_error(errno, std::generic_category());
  });
  MPI_Barrier(comm);
}

void drop_from_memory(const std::string& path) {
  for_each_file(path, [](int file) { posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); });
}

void remove_output(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
  fs::remove(path + ".json", ignored);
}

}  // namespace iocomp::apps::blocks
