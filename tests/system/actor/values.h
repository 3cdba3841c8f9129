#pragma once

#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace actor {

/// The type of that name: int8, int32, int64, float64, char. @throws std::runtime_error.
[[nodiscard]] iocomp_type type_of(const std::string& name);

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
using Bytes = std::vector<std::byte, PageAllocator<std::byte>>;

/// The values of a block: each tells its global index and its step (stage.py computes the same).
[[nodiscard]] Bytes values_of(iocomp_type type, const std::vector<std::int64_t>& shape,
                              const std::vector<std::int64_t>& start,
                              const std::vector<std::int64_t>& count, std::int64_t step);

/// The same inside a local array that is wider by `halo` elements on both sides of each dimension.
[[nodiscard]] Bytes with_halo(const Bytes& values, std::size_t element_bytes,
                              const std::vector<std::int64_t>& count, std::int64_t halo);

/// Add to each value of a block of int64.
void add_to(Bytes& values, std::int64_t more);

[[nodiscard]] std::int64_t product(const std::vector<std::int64_t>& extents);

}  // namespace actor
