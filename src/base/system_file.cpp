// SPDX-License-Identifier: BSD-3-Clause
#include "base/system_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"

namespace iocomp {

std::string read_system_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  std::string text;
  if (file.is_open()) {
    (void)outcome_of([&] { text = read_text(file, path); });
  }
  return text;
}

std::vector<std::string> names_in_system_folder(const std::string& path) {
  std::vector<std::string> names;
  (void)outcome_of([&] { names = OpenFolder{path}.names(); });
  return names;
}

std::int64_t own_namespace(const std::string& kind) {
  struct stat status{};
  return ::stat(("/proc/self/ns/" + kind).c_str(), &status) == 0
             ? static_cast<std::int64_t>(status.st_ino)
             : 0;
}

const std::string& boot_id() {
  static const std::string id = read_system_file("/proc/sys/kernel/random/boot_id");
  return id;
}

}  // namespace iocomp
