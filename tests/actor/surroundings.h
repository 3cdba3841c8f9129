// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <array>
#include <map>
#include <string>

namespace actor {

/// The surroundings of a script that shares its process with others: working directory,
/// environment, where stdout and stderr go. At the end all is as before, also what the script
/// changed: the CPUs of this thread, the limit on the size of files, faults.
class Surroundings {
 public:
  /// Redirects the output of this rank to `printed`/stdout and `printed`/stderr.
  /// @throws std::runtime_error.
  Surroundings(const std::string& folder, const std::map<std::string, std::string>& environment,
               const std::string& printed);
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  ~Surroundings();

 private:
  std::string folder_before_;
  std::map<std::string, std::string> environment_;
  std::array<int, 2> outputs_{};  // stdout and stderr of before
  cpu_set_t cpus_{};
  rlimit file_size_{};
  rlimit descriptors_{};
};

}  // namespace actor
