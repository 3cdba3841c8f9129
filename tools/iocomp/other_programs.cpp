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

namespace iocomp::command {
namespace {

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) {
    text += letter == '\'' ? std::string{"'\\''"} : std::string{letter};
  }
  return text + "'";
}

}  // namespace

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

std::string printed_by(const std::string& program, const std::string& argument) {
  struct Close {
    void operator()(std::FILE* pipe) const noexcept { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe{
      popen((quoted(program) + " " + quoted(argument) + " 2>&1").c_str(), "r")};
  std::string text;
  std::array<char, 4096> buffer{};
  while (pipe &&
         std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe.get()) != nullptr) {
    text += buffer.data();
  }
  return text;
}

}  // namespace iocomp::command
