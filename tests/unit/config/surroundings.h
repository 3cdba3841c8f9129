// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/settings.h"

namespace iocomp::config {

/// A test with a working directory of its own and no variable IOCOMP_* but those it sets.
class Surroundings : public testing::Test {
 protected:
  void SetUp() override {
    for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
      const std::string text{*line};
      if (text.starts_with("IOCOMP_")) {
        given_.push_back(text);
      }
    }
    for (const auto& variable : given_) {
      unsetenv(variable.substr(0, variable.find('=')).c_str());
    }
    std::string path = testing::TempDir() + "iocomp_config_XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    directory_ = path;
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(directory_);
  }

  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(directory_);
    for (const auto& name : set_) {
      unsetenv(name.c_str());
    }
    for (const auto& variable : given_) {
      const auto equals = variable.find('=');
      setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
    }
  }

  void set(const std::string& name, const std::string& text) {
    setenv(name.c_str(), text.c_str(), 1);
    set_.push_back(name);
  }

  static void write(const std::filesystem::path& path, std::string_view text) {
    std::ofstream{path} << text;
  }

  /// The complaint of Settings::read; empty when there is none.
  static std::string complaint(std::string_view program = {}) {
    try {
      static_cast<void>(Settings::read(program));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_setting);
      return error.what();
    }
    return {};
  }

  /// The only warning of Settings::read; empty when there is none.
  static std::string warning() {
    const auto settings = Settings::read({});
    EXPECT_LE(settings.warnings().size(), 1U);
    return settings.warnings().empty() ? std::string{} : settings.warnings().front();
  }

 private:
  std::filesystem::path directory_;
  std::filesystem::path before_;
  std::vector<std::string> set_;
  std::vector<std::string> given_;
};

}  // namespace iocomp::config
