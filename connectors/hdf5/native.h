// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/error.h"
#include "hdf5/identifier.h"

/// Questions to HDF5's native connector, about objects of its own.
namespace iocomp::hdf5::native {

/// Look for it. False where HDF5 has none.
[[nodiscard]] bool find() noexcept;
/// Its identifier. Not counted: one that is held keeps the library from closing. Each callback asks
/// for it, so it is noted which threads use HDF5.
[[nodiscard]] hid_t id() noexcept;
/// True if no thread but this one has ever asked for the identifier.
[[nodiscard]] bool is_used_by_this_thread_alone() noexcept;
/// Run `body`, which asks HDF5, while the program is in no call of HDF5.
void call_from_outside(const std::function<void()>& body);

/// HDF5's number of an open file: one number however often it is opened.
[[nodiscard]] std::optional<unsigned long> number_of_file(void* file);
/// False for a file whose places of chunks HDF5 tells wrong: before 1.14.4, one with a user block.
[[nodiscard]] bool tells_chunks_of(void* file);
/// The bytes of a file without MPI that HDF5 keeps in memory, in its sieve buffer, while it has it
/// open.
[[nodiscard]] std::size_t sieve_bytes_of(void* file);
/// The number of datasets of an open file that the program has open.
[[nodiscard]] std::size_t open_datasets_of(void* file);
/// The identity of an object of one file on all ranks, however often it is open.
using Token = std::array<std::uint8_t, H5O_MAX_TOKEN_SIZE>;
struct Identity {
  /// The file that the object lies in: with external links and mounted files it is another one than
  /// that of the object it was opened from.
  unsigned long file_number = 0;
  Token token{};
  unsigned links = 0;  ///< that lead to it; without one it goes when it is closed
};
[[nodiscard]] std::optional<Identity> identity_of(void* object, H5I_type_t type);

// Properties of a dataset. Invalid, or nothing, if HDF5 does not tell.
[[nodiscard]] PropertyList creation_list(void* dataset);
[[nodiscard]] bool is_virtual(void* dataset);
[[nodiscard]] Dataspace space(void* dataset);
[[nodiscard]] Datatype type(void* dataset);
/// The offset of its first byte in the file.
[[nodiscard]] std::optional<haddr_t> offset(void* dataset);
/// HDF5 without MPI finds a place when it writes first: let it write a fill value.
void make_place(void* dataset);
/// `found` gets the first element of each chunk that has a place, and where that lies. False where
/// HDF5 does not tell.
[[nodiscard]] bool find_chunks(
    void* dataset, const std::function<void(const hsize_t* first, haddr_t place)>& found);

/// Put a chunk that its filters have made into the dataset. @param first  its first element.
[[nodiscard]] Outcome write_chunk(void* dataset, const hsize_t* first,
                                  std::span<const std::byte> filtered);
[[nodiscard]] Outcome close_dataset(void* dataset);

}  // namespace iocomp::hdf5::native
