// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/huge_memory.h"
#include "common/session.h"

namespace iocomp::apps {

/// An array of doubles to compute in and to put: memory of iocomp_alloc, or the program's own huge
/// pages, or what the language gives. Zeroed, touched.
class PutArray {
 public:
  /// Memory of malloc, which begins 16 bytes behind a page where it is large.
  struct Ordinary {};

  PutArray(Ordinary kind, std::size_t elements);
  /// @param session  whose iocomp_alloc is asked; null: huge pages of the program. It must outlive
  /// the array.
  /// @throws std::runtime_error when iocomp has no such memory, std::bad_alloc.
  PutArray(const Session* session, std::size_t elements);
  PutArray(const PutArray&) = delete;
  PutArray& operator=(const PutArray&) = delete;
  /// Memory of iocomp is left to finalize: after an exception puts from it may still be under way.
  ~PutArray() = default;

  [[nodiscard]] double* data() const noexcept { return values_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] std::span<double> values() const noexcept { return values_; }

 private:
  std::optional<HugeArray> own_;
  std::vector<double> ordinary_{};
  std::span<double> values_;
};

}  // namespace iocomp::apps
