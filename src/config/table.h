// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"

namespace iocomp::config {

/// The keys of a file begin like this in the table.
inline constexpr std::string_view file_prefix = "files.*.";

/// The row of a key that concerns no file, or null.
[[nodiscard]] const Key* find_key(std::string_view name) noexcept;

/// The row of a key of a file ("backend"), or null.
[[nodiscard]] const Key* find_file_key(std::string_view name) noexcept;

/// The present name of a setting that has been renamed ("expert.inline"), else nothing.
/// @param name  as keys or as variables are written: "transport.inline", "TRANSPORT_INLINE".
[[nodiscard]] std::string_view present_name(std::string_view name);

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
