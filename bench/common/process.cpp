// SPDX-License-Identifier: BSD-3-Clause
#include "common/process.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace iocomp::bench {
namespace {

namespace fs = std::filesystem;

/// The number in a line such as "VmRSS:   1234 kB".
double number_in(const fs::path& path, const std::string& key) {
  std::ifstream status{path};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1));
  }
  throw std::runtime_error(path.string() + " has no line " + key);
}

}  // namespace

ProcessAccount account_of(pid_t process) {
  const fs::path root = fs::path{"/proc"} / std::to_string(process);
  ProcessAccount account;
  for (const auto& task : fs::directory_iterator{root / "task"}) {
    double nanoseconds = 0;  // finer than the ticks of stat
    std::ifstream{task.path() / "schedstat"} >> nanoseconds;
    account.cpu_seconds += 1e-9 * nanoseconds;
    account.wake_ups += number_in(task.path() / "status", "voluntary_ctxt_switches");
  }
  account.resident_bytes = 1024 * number_in(root / "status", "VmRSS");
  account.peak_bytes = 1024 * number_in(root / "status", "VmHWM");
  return account;
}

}  // namespace iocomp::bench
