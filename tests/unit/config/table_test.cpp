// SPDX-License-Identifier: BSD-3-Clause
#include "config/table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "config/check.h"
#include "config/sources.h"

namespace iocomp::config {
namespace {

TEST(Table, AllowsItsOwnDefaults) {
  for (const auto* keys : {&all_keys(), &test_keys()}) {
    for (const auto& row : *keys) {
      EXPECT_NO_THROW(check_value(row, row.name, {std::string{row.default_value}, "default"}))
          << row.name;
    }
  }
}

TEST(Table, SaysSomethingAboutEveryKey) {
  for (const auto& row : all_keys()) {
    EXPECT_FALSE(row.doc.empty()) << row.name;
    EXPECT_EQ(row.doc.find('|'), std::string_view::npos) << row.name << " breaks the table";
  }
}

TEST(Table, HasOneNameInTheEnvironmentPerKey) {
  std::set<std::string> names;
  for (const auto& row : all_keys()) {
    const auto key = is_file_key(row) ? "FILES_" + environment_name(name_in_file(row))
                                      : environment_name(row.name);
    EXPECT_TRUE(names.insert(key).second) << row.name;
  }
}

TEST(Table, HasNoKeyOfAFileThatEndsLikeAnother) {
  for (const auto& left : all_keys()) {
    for (const auto& right : all_keys()) {
      if (is_file_key(left) && is_file_key(right)) {
        EXPECT_FALSE(name_in_file(left).ends_with("_" + std::string{name_in_file(right)}))
            << left.name << ": IOCOMP_FILES_X_<KEY> would be ambiguous";
      }
    }
  }
}

TEST(Table, HasNoKeyThatIsGone) {
  for (const auto& gone : gone_keys()) {
    const bool is_of_file = gone.name.starts_with(file_prefix);
    EXPECT_EQ(
        is_of_file ? find_file_key(gone.name.substr(file_prefix.size())) : find_key(gone.name),
        nullptr)
        << gone.name;
  }
}

TEST(Table, IsWhollyInTheReference) {
  const auto reference = settings_markdown();
  for (const auto& row : all_keys()) {
    EXPECT_NE(reference.find(row.doc), std::string::npos) << row.name;
  }
}

}  // namespace
}  // namespace iocomp::config
