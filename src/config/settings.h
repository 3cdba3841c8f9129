// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iocomp::config {

/// The type of a value.
enum class ValueType {
  text,
  path,
  choice,
  integer,
  real,
  boolean,
  bytes,
  rate,
  duration,
  names,
  form  ///< what `Key::accepts` says
};

/// One setting: a row of the table from which parsing, `iocomp config` and docs/settings.md are
/// made.
struct Key {
  std::string_view name;  ///< "staging.memory"; keys of a file are named "files.*.backend"
  ValueType type = ValueType::text;
  std::string_view default_value;  ///< as written in a file, without quotes; "" means unset
  std::string_view allowed;        ///< choices separated by '|', or a range "1..": shown in errors
  std::string_view doc;            ///< one line
  /// Only the environment may set it: what a file in the working directory must not decide.
  bool environment_only = false;
  /// The key may also be set for single variables of a file, in
  /// [files.<name>.variables.<variable>].
  bool of_variable = false;
  /// True for a text of this form, which `allowed` describes in words.
  bool (*accepts)(std::string_view text) = nullptr;
};

/// All settings, in the order in which they are documented.
[[nodiscard]] const std::vector<Key>& all_keys();

/// A value and its origin: "default", "program", "iocomp.toml:12", "environment IOCOMP_MODE".
struct Value {
  std::string text;
  std::string origin;
};

/// The value for one variable, and the name or pattern that it was set for.
struct VariableValue {
  enum class Of : std::uint8_t { file, pattern, name };
  Value value;
  Of said_of = Of::file;
};

/// A value that a source sets, checked: `key` as Settings stores it.
struct Entry {
  std::string key;
  Value value;
};

/// The settings in force. Sources, weakest first: defaults, program text, file, environment. A
/// value type, without MPI: rank 0 reads, the text is broadcast, every rank parses it (see
/// `to_wire` / `from_wire`).
class Settings {
 public:
  Settings() = default;
  /// Read all sources. File: `IOCOMP_CONFIG`, else "iocomp.toml" in the working directory if there
  /// is one. Every key is also `IOCOMP_<KEY>` with dots as underscores, upper case; for files
  /// `IOCOMP_FILES_<NAME>_<KEY>`, and `IOCOMP_FILES_<KEY>` (or [files.default]) for all files that
  /// do not say it themselves.
  /// @param program  TOML text of the program, or empty.
  /// @throws Error{invalid_setting} naming key, value, origin and what is allowed; unknown keys of
  /// program and file name the nearest known one.
  static Settings read(std::string_view program);

  /// The same with what the program says of one file in the call that opens it: keys of a file as
  /// TOML text. They override the defaults of all files, and the program's settings. What the
  /// settings file and the environment say of this file by its name overrides them.
  /// @throws Error{invalid_setting} as `read`; also for a key of anything else.
  [[nodiscard]] Settings with_options(std::string_view file, std::string_view options) const;

  /// Make paths absolute that concern no file: where they lie does not change with the working
  /// directory. Those of files begin at the directory in which the file is opened.
  void resolve_paths();

  /// Unknown variables that `read` found, each with the nearest known one. They do not travel.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  /// All values that are not defaults, for sending to other ranks; and back.
  [[nodiscard]] std::string to_wire() const;
  /// @throws Error{internal} for what ends within a value.
  static Settings from_wire(std::string_view sent);

  /// Values by key: "staging.memory". @throws Error{internal} for a key that is not in the table.
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] double real(std::string_view key) const;
  [[nodiscard]] bool boolean(std::string_view key) const;
  [[nodiscard]] std::int64_t bytes(std::string_view key) const;
  [[nodiscard]] double seconds(std::string_view key) const;

  /// The same for a file: `file_text("fields", "backend")` looks at files.fields.backend, then
  /// files.default.backend, then the default of the table.
  [[nodiscard]] std::string file_text(std::string_view file, std::string_view key) const;
  [[nodiscard]] std::int64_t file_integer(std::string_view file, std::string_view key) const;
  [[nodiscard]] bool file_boolean(std::string_view file, std::string_view key) const;
  [[nodiscard]] std::int64_t file_bytes(std::string_view file, std::string_view key) const;
  /// Bytes per second.
  [[nodiscard]] std::int64_t file_rate(std::string_view file, std::string_view key) const;

  /// Value and origin of one key, and of one key of a file.
  [[nodiscard]] Value value(std::string_view key) const;
  [[nodiscard]] Value file_value(std::string_view file, std::string_view key) const;
  /// The value for one variable in a file. A setting for the variable overrides one for the file.
  /// For the variable, sources rank as for files; its name ranks over patterns ("rho*"), and the
  /// longest pattern over others.
  [[nodiscard]] VariableValue variable_value(std::string_view file, std::string_view variable,
                                             std::string_view key) const;
  /// The names and patterns of variables of which something is said for this file, or for all
  /// files.
  [[nodiscard]] std::set<std::string> variable_names(std::string_view file) const;

  /// All keys of one file, named "files.fields.backend", with value and origin.
  [[nodiscard]] std::vector<std::pair<std::string, Value>> file_in_force(
      std::string_view file) const;

  /// Every key of the table with value and origin; files that are named somewhere with all their
  /// keys.
  [[nodiscard]] std::vector<std::pair<std::string, Value>> in_force() const;

 private:
  // If several entries have the same key, the last one holds.
  explicit Settings(const std::vector<Entry>& entries);

  // Keys that some source sets: "files.fields.backend", and "files.$FIELDS.backend" from the
  // environment, which does not tell fields.v2 from Fields-v2. Of variables alike:
  // "files.fields.variables.u.chunk" and "files.$FIELDS.variables.$U.chunk".
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> warnings_;
};

/// A text such as docs/settings.md, made from the table.
[[nodiscard]] std::string settings_markdown();

}  // namespace iocomp::config
