// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace iocomp::formats {

/// A kind of module: a shared library for each format, which exports one structure.
struct ModuleKind {
  std::string_view prefix;  ///< of its file: "libiocomp_format_"
  const char* symbol;       ///< of the structure
  int interface_version;    ///< with which the structure begins
  std::string_view what;    ///< for messages: "the back-end"
};

/// The value of the setting storage.modules, which only the environment may set: for programs that
/// read no settings.
[[nodiscard]] std::string chosen_modules();

/// The symbol that the module of a format exports. It is loaded at first use and kept. `folder`
/// (setting storage.modules) is searched first when it is not empty; then the folder `iocomp`
/// beside this library, then where it was installed or built.
/// @throws Error{unsupported} naming the format, the folders searched and those that were found.
[[nodiscard]] const void* module_entry(const ModuleKind& kind, std::string_view format,
                                       const std::string& folder);

/// The formats that there are modules of, whether or not these can be loaded.
[[nodiscard]] std::set<std::string> formats_with_module(const ModuleKind& kind,
                                                        const std::string& folder);

}  // namespace iocomp::formats
