// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/other_programs.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace iocomp::command {
std::optional<std::string> in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders{path == nullptr ? "" : path};
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path{folder.empty() ? "." : folder} / name;
    std::error_code failure;
    if (std::filesystem::is_regular_file(file, failure) && access(file.c_str(), X_OK) == 0) {
      return file.string();
    }
  }
  return std::nullopt;
}

std::string quoted(const std::string& word) {
  constexpr const char* harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) {
    return word;
  }
  std::string out = "'";
  for (const char letter : word) {
    out += letter == '\'' ? std::string{"'\\''"} : std::string{letter};
  }
  return out + "'";
}

std::string printed_by(const std::vector<std::string>& words, Errors errors) {
  std::string line;
  for (const auto& word : words) {
    line += quoted(word) + " ";
  }
  line += errors == Errors::kept ? "2>&1" : "2>/dev/null";
  struct Close {
    void operator()(std::FILE* pipe) const noexcept { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe{popen(line.c_str(), "r")};
  std::string text;
  std::array<char, 4096> buffer{};
  while (pipe &&
         std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe.get()) != nullptr) {
    text += buffer.data();
  }
  return text;
}

}  // namespace iocomp::command
