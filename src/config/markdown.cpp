// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "config/settings.h"
#include "config/sources.h"
#include "config/table.h"

namespace iocomp::config {
namespace {

constexpr std::string_view introduction = R"(# Settings

<!-- Made by `iocomp config --markdown > docs/settings.md` from the table in src/config/table.cpp: change it there. -->

What a program writes is decided by its code; where, how and by whom it is written by these settings. `iocomp config`
prints those in force, with the origin of each value. A bad value is an error that names the key, the value, where it
came from and what is allowed; so is an unknown key of a file.

## Sources

From the weakest to the strongest:

1. the defaults below;
2. the program: the TOML text given to `iocomp_init`;
3. a file: the one that `IOCOMP_CONFIG` names, else `iocomp.toml` in the working directory if there is one
   (`IOCOMP_CONFIG=` set to nothing: no file);
4. the environment.

Of one file the program can also say settings in the call that opens it (`iocomp_open_with`). They hold over all
sources of `[files.default]`, and over the program's own settings; what 3 and 4 say of this file by its name holds over
them.

Rank 0 reads the file and its environment; all other ranks get the settings from it. In a file:

```toml
mode = "async"

[placement]
policy = "halves"
servers_per_node = 2

[staging]
memory = "4 GiB"

[files.default]          # for every file that does not say it itself
backend = "hdf5"

[files.fields]           # for the file that the program opens as "fields"
path = "out/fields.h5"
when_full = "error"
```

## One variable of a file

Some settings of a file may be set of single variables; the table below marks them. A variable takes what is not set of
it from its file:

```toml
[files.fields]
compression = "zstd"

[files.fields.variables.u]         # the variable that the program defines as "u"
keep_bits = 10

[files.fields.variables."rho*"]    # all whose names begin so
relative_error = 0.001

[files.default.variables.mask]     # in every file
shuffle = false
```

`*` stands for any text. A name holds over patterns, and the longest pattern over others. What is said of the variable
in this file holds over `[files.default.variables]`. In an open call these are `variables.u.keep_bits = 10`.

## The environment

Every key is also a variable: `IOCOMP_` and the key in upper case, with `_` for `.` and `-`. `staging.memory` is
`IOCOMP_STAGING_MEMORY`. Other variables that begin with `IOCOMP_` have no effect, as environment modules set some
(`IOCOMP_HOME`). A warning names the nearest setting, as it may be meant. There is none for `IOCOMP_CONFIG`,
`IOCOMP_LIBRARY`, `IOCOMP_ROOT`, `IOCOMP_DIR`, `IOCOMP_TEST_*` and `IOCOMP_BENCH_*`.

For files `IOCOMP_FILES_<NAME>_<KEY>` concerns the files of that name, and `IOCOMP_FILES_<KEY>` is the same as
`[files.default]`: it holds for all files that do not say it themselves, so it does not override `[files.fields]`.
There `.`, `-` and `_` are the same, and so are upper and lower case: `IOCOMP_FILES_FIELDS_V2_BACKEND` holds for
`fields.v2` and for `Fields-v2`. Of one variable it is `IOCOMP_FILES_<NAME>_VARIABLES_<VARIABLE>_<KEY>`, or
`IOCOMP_FILES_VARIABLES_<VARIABLE>_<KEY>` for all files. What is no letter or digit in the name of a variable is `_`.

## Values

- **Sizes** are bytes, or a number with a unit: `4096`, `"64 KiB"`, `"1.5 GiB"`, `"10 MB"`. Units are B, KB, MB, GB, TB
  (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024); case does not matter.
- **Durations** are seconds, or a number with a unit: `90`, `"5 min"`, `"1.5 h"`. Units are ms, s, min and h.
- **Booleans** are `true` and `false`; as text also on, off, yes, no, 1, 0.
- **Lists** are `[1, 3, 5]` in TOML, `1,3,5` in the environment.
- **Names of files** consist of letters, digits, `-`, `_` and `.`. The key is what follows the last dot, so
  `[files.fields.v2]` is the file `fields.v2`. The name `default` stands for all files.
)";

std::string_view section_of(const Key& row) {
  const auto dot = row.name.find('.');
  return dot == std::string_view::npos ? std::string_view{} : row.name.substr(0, dot);
}

std::string_view type_name(ValueType type) {
  switch (type) {
    case ValueType::text:
      return "text";
    case ValueType::path:
      return "path";
    case ValueType::choice:
      return "choice";
    case ValueType::integer:
      return "integer";
    case ValueType::real:
      return "number";
    case ValueType::boolean:
      return "boolean";
    case ValueType::duration:
      return "duration";
    case ValueType::bytes:
      return "size";
    case ValueType::rate:
      return "size per second";
    case ValueType::names:
      return "names of files";
    case ValueType::list:
      return "list of integers";
  }
  return {};
}

/// "size, from 1 B", "async, sync": the column that says what a value may be.
std::string allowed_column(const Key& row) {
  std::string text{row.type == ValueType::choice ? row.allowed : type_name(row.type)};
  for (auto bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar)) {
    text.replace(bar, 1, ", ");
  }
  if (row.type == ValueType::choice || row.allowed.empty()) {
    return text;
  }
  const auto dots = row.allowed.find("..");
  const auto lowest = row.allowed.substr(0, dots);
  const auto highest = row.allowed.substr(dots + 2);
  if (!lowest.empty()) {
    text += fmt::format(", {}{}", lowest, highest.empty() ? " or more" : "");
  }
  if (!highest.empty()) {
    text += fmt::format(" to {}", highest);
  }
  return text;
}

std::string environment_column(const Key& row) {
  return is_file_key(row)
             ? fmt::format("IOCOMP_FILES_<NAME>_{}", environment_name(name_in_file(row)))
             : fmt::format("IOCOMP_{}", environment_name(row.name));
}

constexpr std::string_view expert = "expert";
constexpr std::string_view about_expert =
    "Nobody needs these: tests set them, and the defaults are right.\n\n";

std::string heading(std::string_view section) {
  if (section.empty()) {
    return "General";
  }
  return section == "files" ? "[files.&lt;name&gt;] and [files.default]"
                            : fmt::format("[{}]", section);
}

}  // namespace

std::string settings_markdown() {
  std::string out{introduction};
  std::string_view section{"none yet"};
  for (const auto& row : all_keys()) {
    if (section_of(row) != section) {
      section = section_of(row);
      out += fmt::format(
          "\n## {}\n\n{}| key | value | default | meaning | variable |\n| --- | --- | --- | --- | "
          "--- |\n",
          heading(section), section == expert ? about_expert : std::string_view{});
    }
    const auto dot = row.name.rfind('.');
    const auto key = dot == std::string_view::npos ? row.name : row.name.substr(dot + 1);
    const auto initial =
        row.default_value.empty() ? std::string{"unset"} : fmt::format("`{}`", row.default_value);
    out += fmt::format(
        "| `{}` | {} | {} | {} | `{}` |\n", key, allowed_column(row), initial,
        row.of_variable ? fmt::format("{} (*also of a variable*)", row.doc) : std::string{row.doc},
        environment_column(row));
  }
  return out;
}

}  // namespace iocomp::config
