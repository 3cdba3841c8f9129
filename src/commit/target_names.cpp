// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/path.h"
#include "commit/commit.h"

namespace iocomp::commit {
namespace {

constexpr std::size_t step_digits = 6;

// The parts before and behind the mark, in the name of something that iocomp made for a file.
std::pair<std::string, std::string> parts(const std::string& name) {
  const auto mark = name.rfind(temporary_mark);
  return name.starts_with('.') && mark != std::string::npos && mark >= 2
             ? std::pair{name.substr(1, mark - 1), name.substr(mark + temporary_mark.size())}
             : std::pair<std::string, std::string>{};
}

}  // namespace

// "ckpt.h5" -> "ckpt.000003.h5"; a name without extension gets the number at its end.
std::string name_with_step(const std::string& name, std::int64_t step) {
  std::string digits = std::to_string(step);
  digits.insert(0, digits.size() < step_digits ? step_digits - digits.size() : 0, '0');
  const auto dot = name.rfind('.');
  const auto at = dot == std::string::npos || dot == 0 ? name.size() : dot;
  return name.substr(0, at) + '.' + digits + name.substr(at);
}

std::string belongs_to(const std::string& name) {
  const auto [target, ending] = parts(name);
  return ending == lock_name ? std::string{} : target;
}

std::string is_lock_of(const std::string& name) {
  const auto [target, ending] = parts(name);
  return ending == lock_name ? target : std::string{};
}

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
  return is_one && name_with_step(plain, step) == name ? std::optional{step} : std::nullopt;
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

TargetNames target_names(const Path& path, std::int64_t step, const std::string& job) {
  const std::string name = step < 0 ? path.name() : name_with_step(path.name(), step);
  return {path.beside(name), path.beside('.' + name + std::string{temporary_mark} + job),
          path.beside(name + ".json")};
}

}  // namespace iocomp::commit
