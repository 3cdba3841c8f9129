// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "base/small_files.h"
#include "commit/commit.h"

namespace iocomp::commit {
namespace {

constexpr std::size_t step_digits = 6;

// "ckpt.h5" -> "ckpt.000003.h5"; a name without extension gets the number at its end.
std::string with_step(const std::string& name, std::int64_t step) {
  std::string digits = std::to_string(step);
  digits.insert(0, digits.size() < step_digits ? step_digits - digits.size() : 0, '0');
  const auto dot = name.rfind('.');
  const auto at = dot == std::string::npos || dot == 0 ? name.size() : dot;
  return name.substr(0, at) + '.' + digits + name.substr(at);
}

}  // namespace

std::optional<std::int64_t> step_in_name(const std::string& name, const std::string& plain) {
  const auto dot = plain.rfind('.');
  const auto at = dot == std::string::npos || dot == 0 ? plain.size() : dot;
  if (name.size() < plain.size() + 1 + step_digits) {
    return std::nullopt;
  }
  std::int64_t step = 0;
  const char* const first = name.data() + at + 1;
  const char* const last = name.data() + name.size() - (plain.size() - at);
  const auto [end, error] = std::from_chars(first, last, step);
  const bool is_one = error == std::errc{} && end == last && step >= 0;
  return is_one && with_step(plain, step) == name ? std::optional{step} : std::nullopt;
}

std::optional<NameOfStep> name_of_step(const std::string& name) {
  const auto last = name.rfind('.');
  if (last == std::string::npos || last == 0) {
    return std::nullopt;
  }
  const auto number = name.rfind('.', last - 1);
  const std::string ending = name.substr(last);
  for (const std::string& plain :
       {number == std::string::npos ? std::string{} : name.substr(0, number) + ending,
        name.substr(0, last)}) {
    if (const auto step = plain.empty() ? std::nullopt : step_in_name(name, plain)) {
      return NameOfStep{plain, *step};
    }
  }
  return std::nullopt;
}

TargetNames target_names(const std::string& path, std::int64_t step, const std::string& job) {
  const auto slash = path.rfind('/');
  const std::string prefix = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string plain = name_in_folder(path);
  const std::string name = step < 0 ? plain : with_step(plain, step);
  return {prefix + name, prefix + '.' + name + std::string{temporary_mark} + job,
          prefix + name + ".json"};
}

}  // namespace iocomp::commit
