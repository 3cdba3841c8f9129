// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace iocomp {

/// The reason why an operation failed, as the C API reports it. Values are part of the ABI: only
/// append.
enum class ErrorCode : int {
  ok = 0,
  invalid_argument = 1,
  out_of_staging_memory = 2,
  storage_failure = 3,
  mpi_failure = 4,
  invalid_setting = 5,
  target_exists = 6,
  inconsistent_calls = 7,
  timed_out = 8,
  unsupported = 9,
  not_found = 10,
  overlapping_puts = 11,
  internal = 99,
};

/// The one exception type that leaves the library.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what) : std::runtime_error{what}, code_{code} {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// The result of an action: `ok`, or a failure with its story. For failures that travel or wait to
/// be told.
struct Outcome {
  ErrorCode code = ErrorCode::ok;
  std::string story;

  [[nodiscard]] bool ok() const noexcept { return code == ErrorCode::ok; }
  /// @throws Error with it, if it is a failure.
  void throw_unless_ok() const {
    if (!ok()) {
      throw Error{code, story};
    }
  }

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Run `body`; a failure becomes an Outcome.
template <typename Body>
[[nodiscard]] Outcome outcome_of(Body&& body) {
  try {
    body();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
}

/// A short name of a code, such as "storage failure"; "unknown code" for a value that is none.
[[nodiscard]] const char* code_name(int code) noexcept;

/// Error{storage_failure} "cannot ACTION PATH: No space left on device".
[[nodiscard]] Error failure(const std::string& action, const std::string& path, int errno_value);

/// The outcome, with a story that begins as those of a file do: `file "FILE"WHERE: `. A story that
/// names its file already stays as it is.
[[nodiscard]] Outcome in_file(const Outcome& outcome, const std::string& file,
                              const std::string& where = {});

}  // namespace iocomp
