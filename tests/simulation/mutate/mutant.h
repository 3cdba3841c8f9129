// SPDX-License-Identifier: BSD-3-Clause
// Put into the copy of src/ from which mutants are built: docs/developers/mutation.md.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace iocomp::mutants {

constexpr int most = 1 << 16;

/// A file of `most` bytes, of which each says whether its mutant was reached; null: nobody asks.
inline unsigned char* map_reached() {
  const char* const path = std::getenv("IOCOMP_MUTANTS_REACHED");
  const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return nullptr;
  }
  void* const memory = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

inline unsigned char* const reached = map_reached();
/// The one that runs; 0: none.
inline const int planted = [] {
  const char* const number = std::getenv("IOCOMP_MUTANT");
  return number == nullptr ? 0 : std::atoi(number);
}();

inline bool is(int number) noexcept {
  if (reached != nullptr) {
    reached[number] = 1;
  }
  return number == planted;
}

}  // namespace iocomp::mutants
