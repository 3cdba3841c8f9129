// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace iocomp::config {

/// The keys of a file begin like this in the table.
inline constexpr std::string_view file_prefix = "files.*.";

/// The row of a key that concerns no file, or null.
[[nodiscard]] const Key* find_key(std::string_view name) noexcept;

/// The row of a key of a file ("backend"), or null.
[[nodiscard]] const Key* find_file_key(std::string_view name) noexcept;

/// Settings for tests and measurements of iocomp itself ("test.inline", IOCOMP_TEST_INLINE): read
/// as the others are, but neither listed nor on the page for users.
[[nodiscard]] const std::vector<Key>& test_keys();

/// A key that users had once ("files.*.verify"), or a value of one ("transport.kind=kernel").
struct GoneKey {
  std::string_view name;
  std::string_view instead;  ///< what to say now
};
/// All of them: to set one is an error that says what to set instead.
[[nodiscard]] std::span<const GoneKey> gone_keys();

[[nodiscard]] inline bool is_file_key(const Key& row) noexcept {
  return row.name.starts_with(file_prefix);
}

/// A key as Settings stores it, of a file or of a variable in a file, in parts.
struct FileKey {
  std::string_view file;      ///< "fields" of "files.fields.backend"; empty for other keys
  std::string_view variable;  ///< "u" of "files.fields.variables.u.chunk"; empty: of the file
  std::string_view key;
};
/// Names of files and variables may have dots, names of keys do not.
[[nodiscard]] FileKey parts_of(std::string_view key) noexcept;

/// The keys that may be set for one variable: "chunk, compression, ...".
[[nodiscard]] std::string variable_keys();

/// "backend" of "files.*.backend".
[[nodiscard]] inline std::string_view name_in_file(const Key& row) noexcept {
  return row.name.substr(file_prefix.size());
}

}  // namespace iocomp::config
