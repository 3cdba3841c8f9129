// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace iocomp::device {

/// The number of times that the process has loaded a library. The loader counts them, so each put
/// may ask.
[[nodiscard]] unsigned long long loads() noexcept;

/// The path of a library that the process has loaded; empty where it has not.
/// @param name  without its version: "libcuda.so".
[[nodiscard]] std::string loaded_path(std::string_view name);

/// A library that the program has loaded. It stays.
class LoadedLibrary {
 public:
  /// @param path  as `loaded_path` tells it. @throws Error{unsupported} where it is gone.
  explicit LoadedLibrary(std::string path);

  /// The address of a symbol; null if the library has none.
  template <typename Function>
  void find(const char* name, Function*& function) const noexcept {
    function = reinterpret_cast<Function*>(symbol(name));
  }
  /// @throws Error{unsupported} naming library and function.
  template <typename Function>
  void need(const char* name, Function*& function) const {
    find(name, function);
    if (function == nullptr) {
      lacks(name);
    }
  }

 private:
  [[nodiscard]] void* symbol(const char* name) const noexcept;
  [[noreturn]] void lacks(const char* name) const;

  std::string path_;
  void* handle_;
};

}  // namespace iocomp::device
