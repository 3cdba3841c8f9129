// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <optional>
#include <thread>

namespace fresh_calls {

/// The function of this name that comes behind this library's.
template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Make a call from a thread that ends with it.
template <typename Result, typename... Parameters>
Result from_fresh_thread(Result (*call)(Parameters...), Parameters... arguments) {
  std::optional<Result> result;
  std::thread{[&] { result = call(arguments...); }}.join();
  return *result;
}

}  // namespace fresh_calls
