#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <utility>

#include "array/box.h"
#include "base/checked.h"
#include "mpi/error.h"

namespace iocomp::formats {

/// What MPI calls a block of an array: the bytes of a variable that are in a box, and as many bytes
/// in memory. Counts are extents, so that a block may have more elements than an int counts.
class BlockTypes {
 public:
  /// @throws Error for an extent that an int does not hold.
  BlockTypes(const array::Shape& shape, const array::Box& box, int element_bytes) {
    if (array::elements(box) == 0) {
      return;
    }
    const auto dimensions = static_cast<std::size_t>(shape.dimensions);
    // The last dimension counts the bytes of an element.
    std::array<int, array::max_dimensions + 1> sizes{};
    std::array<int, array::max_dimensions + 1> counts{};
    std::array<int, array::max_dimensions + 1> starts{};
    const std::array<int, array::max_dimensions + 1> none{};
    for (std::size_t d = 0; d < dimensions; ++d) {
      sizes[d] = checked_cast<int>(shape.extent[d]);
      counts[d] = checked_cast<int>(box.count[d]);
      starts[d] = checked_cast<int>(box.start[d]);
    }
    sizes[dimensions] = counts[dimensions] = element_bytes;
    const int all = static_cast<int>(dimensions) + 1;
    mpi::check(MPI_Type_create_subarray(all, sizes.data(), counts.data(), starts.data(),
                                        MPI_ORDER_C, MPI_BYTE, &in_file_));
    mpi::check(MPI_Type_commit(&in_file_));
    mpi::check(MPI_Type_create_subarray(all, counts.data(), counts.data(), none.data(), MPI_ORDER_C,
                                        MPI_BYTE, &in_memory_));
    mpi::check(MPI_Type_commit(&in_memory_));
    count_ = 1;
  }
  BlockTypes(const BlockTypes&) = delete;
  BlockTypes& operator=(const BlockTypes&) = delete;
  ~BlockTypes() {
    for (MPI_Datatype* type : {&in_file_, &in_memory_}) {
      if (*type != MPI_BYTE) {
        MPI_Type_free(type);
      }
    }
  }

  [[nodiscard]] MPI_Datatype in_file() const noexcept { return in_file_; }
  [[nodiscard]] MPI_Datatype in_memory() const noexcept { return in_memory_; }
  [[nodiscard]] int count() const noexcept { return count_; }  ///< in memory; 0 without elements

 private:
  MPI_Datatype in_file_ = MPI_BYTE;
  MPI_Datatype in_memory_ = MPI_BYTE;
  int count_ = 0;
};

}  // namespace iocomp::formats
