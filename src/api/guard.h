// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "array/element_type.h"
#include "base/our_words.h"
#include "base/size_signal.h"

namespace iocomp::api {

/// The story of the last failure on this rank.
[[nodiscard]] std::string& last_story();

using If = SizeSignalHeld::If;

/// @throws Error{invalid_argument} in a child of fork, which shares MPI, memory and files with the
/// process that has the sessions.
void check_process();

/// Run the body of a C function: no exception crosses C, and nothing that is written in there ends
/// the process because of its limit of file sizes.
template <typename Body>
int guarded(Body&& body, If held = If::limited) noexcept {
  const SizeSignalHeld signal{held};
  try {
    check_process();
    std::forward<Body>(body)();
    return 0;
  } catch (...) {
    return static_cast<int>(code_of_current_exception(last_story()));
  }
}

/// Called where the program uses what a call that has failed did not make. stderr tells of that
/// failure, once: nobody may have looked at its code.
void tell_of_unseen_failure(const char* call) noexcept;
/// Check a pointer of the program.
/// @throws Error{invalid_argument} "put: the variable is null".
void require(const void* pointer, const char* call, const char* what);

/// Check a communicator of the program.
/// @throws Error{invalid_argument} for MPI_COMM_NULL, and one between two groups of ranks.
void require_ranks(MPI_Comm comm, const char* call);

/// Copy a struct of the caller, whose first member is its size, over one of `known_bytes` zeros.
/// The program may have been compiled with another release, whose struct is shorter or longer.
/// @throws Error{invalid_argument} for a size that none has; Error{unsupported} where it says what
/// this release does not know.
void take_struct(const void* given, void* known, std::size_t known_bytes, const char* call,
                 const char* type);

/// @throws Error{invalid_argument} "define: there is no element type 99".
[[nodiscard]] array::ElementType type_of(int type, const char* call);
/// The same of one that may be left out: nothing for 0.
[[nodiscard]] std::optional<array::ElementType> given_type(int type, const char* call);

/// The begin of a block in the local array: `start`, or the first element of a larger array.
/// @throws Error{invalid_argument} for a start without the extents of the array.
[[nodiscard]] const std::int64_t* memory_start_of(const std::int64_t* shape,
                                                  const std::int64_t* start, const char* call);

template <typename T>
T struct_of(const T* given, const char* call, const char* type) {
  T known{};
  take_struct(given, &known, sizeof known, call, type);
  return known;
}

}  // namespace iocomp::api
