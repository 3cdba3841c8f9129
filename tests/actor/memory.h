// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace actor {

/// Begins at a border of pages, as arrays of iocomp_alloc do: so they can be written O_DIRECT.
template <typename T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::align_val_t page{4096};
  PageAllocator() = default;
  template <typename U>
  explicit PageAllocator(const PageAllocator<U>& /*other*/) noexcept {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), page));
  }
  void deallocate(T* first, std::size_t /*count*/) noexcept { ::operator delete(first, page); }
  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

/// A local array that is put, wherever the script wants it to lie.
class Memory {
 public:
  /// Copy `values` to `where`: "pages" (of its own), "heap" (anywhere), "session" (iocomp_alloc).
  /// @throws std::runtime_error.
  Memory(iocomp_session* session, const std::string& where, std::vector<std::byte> values);
  Memory(Memory&&) = default;
  Memory& operator=(Memory&&) = default;
  /// Memory of iocomp_alloc is left to iocomp_finalize.
  ~Memory() = default;

  [[nodiscard]] const std::byte* data() const { return values_.data(); }
  /// As a program does that has something else to compute: what is read from here now is wrong.
  /// @throws std::runtime_error when iocomp_free fails.
  void reuse();

 private:
  iocomp_session* session_;
  std::vector<std::byte, PageAllocator<std::byte>> pages_;
  std::vector<std::byte> heap_;
  std::span<std::byte> given_;   // by the session
  std::span<std::byte> values_;  // in one of these
};

}  // namespace actor
