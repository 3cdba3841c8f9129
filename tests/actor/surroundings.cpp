// SPDX-License-Identifier: BSD-3-Clause
#include "surroundings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "faults.h"
#include "recorder.h"

namespace actor {
namespace {

/// Let what goes to `descriptor` go to a file; returns where it went before.
int redirect(int descriptor, const std::string& path) {
  const int before = ::dup(descriptor);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (before < 0 || file < 0 || ::dup2(file, descriptor) < 0) {
    throw std::runtime_error{"cannot print into " + path};
  }
  ::close(file);
  return before;
}

}  // namespace

Surroundings::Surroundings(const std::string& folder,
                           const std::map<std::string, std::string>& environment,
                           const std::string& printed)
    : folder_before_{std::filesystem::current_path()}, environment_{environment} {
  ::sched_getaffinity(0, sizeof cpus_, &cpus_);
  ::getrlimit(RLIMIT_FSIZE, &file_size_);
  ::getrlimit(RLIMIT_NOFILE, &descriptors_);
  outputs_ = {redirect(STDOUT_FILENO, printed + "/stdout"),
              redirect(STDERR_FILENO, printed + "/stderr")};
  for (const auto& [name, value] : environment_) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::filesystem::current_path(folder);
}

Surroundings::~Surroundings() {
  ::setrlimit(RLIMIT_NOFILE, &descriptors_);
  std::fflush(nullptr);
  ::dup2(outputs_[0], STDOUT_FILENO);
  ::dup2(outputs_[1], STDERR_FILENO);
  for (const int output : outputs_) {
    ::close(output);
  }
  for (const auto& [name, value] : environment_) {
    ::unsetenv(name.c_str());
  }
  remove_faults();
  recorder::stop();
  ::sched_setaffinity(0, sizeof cpus_, &cpus_);
  ::setrlimit(RLIMIT_FSIZE, &file_size_);
  std::error_code ignored;
  std::filesystem::current_path(folder_before_, ignored);
}

}  // namespace actor
