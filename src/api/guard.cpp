// SPDX-License-Identifier: BSD-3-Clause
#include "api/guard.h"

#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "array/element_type.h"
#include "base/error.h"
#include "base/host.h"

namespace iocomp::api {

std::string& last_story() {
  static std::string story;
  return story;
}

void check_process() {
  if (is_child_of_fork()) {
    throw Error{ErrorCode::invalid_argument,
                "this process is a child of fork: only its parent may call iocomp"};
  }
}

void tell_of_unseen_failure(const char* call) noexcept {
  static bool has_told = false;
  if (!last_story().empty() && !std::exchange(has_told, true)) {
    std::fprintf(stderr, "iocomp: %s, after a call that had failed: %s\n", call,
                 last_story().c_str());
  }
}

void require(const void* pointer, const char* call, const char* what) {
  if (pointer == nullptr) {
    tell_of_unseen_failure(call);
    throw Error{ErrorCode::invalid_argument, std::string{call} + ": " + what + " is null"};
  }
}

void require_ranks(MPI_Comm comm, const char* call) {
  const auto refuse = [call](const char* why) {
    throw Error{ErrorCode::invalid_argument, std::string{call} + ": " + why};
  };
  int is_begun = 0;
  int is_over = 0;
  int joins_two_groups = 0;
  MPI_Initialized(&is_begun);
  MPI_Finalized(&is_over);
  if (is_begun == 0 || is_over != 0) {
    refuse("MPI_Init was not called before, or MPI_Finalize was");
  }
  if (comm == MPI_COMM_NULL) {
    refuse("the communicator is MPI_COMM_NULL; iocomp_comm returns that of all compute ranks");
  }
  MPI_Comm_test_inter(comm, &joins_two_groups);
  if (joins_two_groups != 0) {
    refuse(
        "the communicator is one between two groups of ranks; MPI_Intercomm_merge makes one of it");
  }
}

void take_struct(const void* given, void* known, std::size_t known_bytes, const char* call,
                 const char* type) {
  constexpr std::size_t most_bytes = 1024;  // of any release: a larger one was not initialised
  require(given, call, type);
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  const auto told = [&] { return std::string{call} + ": size of the " + type; };
  if (size <= sizeof size || size > most_bytes) {
    throw Error{ErrorCode::invalid_argument,
                told() + " is " + std::to_string(size) + "; set it to sizeof(" + type + ')'};
  }
  std::memcpy(known, given, std::min(size, known_bytes));
  const auto* const bytes = static_cast<const unsigned char*>(given);
  if (size > known_bytes && std::any_of(bytes + known_bytes, bytes + size,
                                        [](unsigned char byte) { return byte != 0; })) {
    throw Error{ErrorCode::unsupported, told() + " is " + std::to_string(size) +
                                            " bytes, and it says what this library, "
                                            "which knows " +
                                            std::to_string(known_bytes) + " of them, cannot do"};
  }
}

array::ElementType type_of(int type, const char* call) {
  if (type == IOCOMP_BOOL) {
    return array::ElementType::int8;
  }
  const auto known = array::element_type(type);
  if (type == IOCOMP_STRING) {
    throw Error{ErrorCode::invalid_argument,
                std::string{call} +
                    ": IOCOMP_STRING is a type of attributes alone; variables have "
                    "text as IOCOMP_CHAR, of one more dimension"};
  }
  if (!known) {
    throw Error{ErrorCode::invalid_argument,
                std::string{call} + ": there is no element type " + std::to_string(type) +
                    "; allowed are IOCOMP_INT8 (1) to IOCOMP_BOOL (15)"};
  }
  return *known;
}

std::optional<array::ElementType> given_type(int type, const char* call) {
  return type == 0 ? std::nullopt : std::optional{type_of(type, call)};
}

const std::int64_t* memory_start_of(const std::int64_t* shape, const std::int64_t* start,
                                    const char* call) {
  static constexpr std::int64_t first[IOCOMP_MAX_DIMS] = {};
  if (start != nullptr && shape == nullptr) {
    throw Error{ErrorCode::invalid_argument,
                std::string{call} +
                    ": memory_start says where the block lies in a larger array: "
                    "memory_shape is missing"};
  }
  return shape != nullptr && start == nullptr ? first : start;
}

}  // namespace iocomp::api
