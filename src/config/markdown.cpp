// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "config/settings.h"
#include "config/table.h"

namespace iocomp::config {
namespace {

constexpr std::string_view introduction = R"(# Settings

<!-- Made by `iocomp config --markdown > docs/settings.md` from the table in src/config/table.cpp: change it there. -->

A program's code says what is written; settings say where, how and by whom. Nobody has to set any. These are the ten that
people change, in a file `iocomp.toml` in the working directory:

```toml
mode = "async"              # "sync": the ranks write in their calls

[placement]
servers = "2 per node"      # or "1 per 8" compute ranks, or ranks: [3, 7]; unset: the kernel writes

[staging]
memory = "4 GiB"            # of the servers of a node

[client]
buffer_memory = "2 GiB"     # copies in each compute rank

[files.default]             # for every file that does not say it itself
backend = "hdf5"            # the format; `iocomp info` lists those installed
existing = "replace"        # or "continue", or "refuse", what an earlier job has left

[files.fields]              # for the file that the program opens as "fields"
path = "out/fields.h5"
compression = "zstd"
type = "float32"            # a float64 of the program is a float32 in the file

[files.restart]
keep = 3                    # checkpoints
```

Every key is also a variable: `IOCOMP_`, then the key in upper case, with `_` for `.` and `-`. `placement.servers` is
`IOCOMP_PLACEMENT_SERVERS`, `files.fields.path` is `IOCOMP_FILES_FIELDS_PATH`, and `IOCOMP_FILES_BACKEND` stands for
`files.default.backend`. `iocomp config` prints all settings in force, with the origin of each. A bad value, an unknown
key of a file, and a key of an earlier release are errors that say what is allowed, or what to set instead.

## Sources

From the weakest to the strongest:

1. the defaults below;
2. the program: the TOML text given to `iocomp_init`;
3. a file: the one that `IOCOMP_CONFIG` names, else `iocomp.toml` in the working directory if there is one
   (`IOCOMP_CONFIG=` set to nothing: no file);
4. the environment.

Of one file the program can also say settings in the call that opens it (`iocomp_open`). They override
`[files.default]` of all sources, and the program's own settings. What file and environment say of this file by its name
overrides them. Rank 0 reads the file and its environment; all other ranks get the settings from it.

## One variable of a file

Some settings of a file may be set of single variables; the table below marks them. A variable takes what is not set of
it from its file:

```toml
[files.fields]
compression = "zstd"

[files.fields.variables.u]         # the variable that the program defines as "u"
type = "float32"

[files.fields.variables."rho*"]    # all whose names begin so
compression = "none"

[files.default.variables.mask]     # in every file
chunk = "64 KiB"
```

`*` stands for any text. A name overrides patterns, and the longest pattern the others. What is said of the variable
in this file overrides `[files.default.variables]`. In an open call these are `variables.u.type = "float32"`.

## The environment

In names of files `.`, `-` and `_` are the same there, and so are upper and lower case: `IOCOMP_FILES_FIELDS_V2_BACKEND`
holds for `fields.v2` and for `Fields-v2`. Of one variable it is `IOCOMP_FILES_<NAME>_VARIABLES_<VARIABLE>_<KEY>`, or
`IOCOMP_FILES_VARIABLES_<VARIABLE>_<KEY>` for all files. What is no letter or digit in the name of a variable is `_`.

Other variables that begin with `IOCOMP_` have no effect, as environment modules set some (`IOCOMP_HOME`). A warning
names the nearest setting, as it may be meant. There is none for `IOCOMP_CONFIG`, `IOCOMP_LIBRARY`, `IOCOMP_ROOT`,
`IOCOMP_DIR`, `IOCOMP_TEST_*` and `IOCOMP_BENCH_*`.

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
    case ValueType::form:
      return {};
  }
  return {};
}

/// "size, from 1 B", "async, sync": the column that says what a value may be.
std::string allowed_column(const Key& row) {
  if (row.type == ValueType::form) {
    return std::string{row.allowed};
  }
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
      out +=
          fmt::format("\n## {}\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n",
                      heading(section));
    }
    const auto dot = row.name.rfind('.');
    const auto key = dot == std::string_view::npos ? row.name : row.name.substr(dot + 1);
    const auto initial =
        row.default_value.empty() ? std::string{"unset"} : fmt::format("`{}`", row.default_value);
    out += fmt::format(
        "| `{}` | {} | {} | {} |\n", key, allowed_column(row), initial,
        row.of_variable ? fmt::format("{} (*also of a variable*)", row.doc) : std::string{row.doc});
  }
  return out;
}

}  // namespace iocomp::config
