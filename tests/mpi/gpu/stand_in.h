// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

// Memory that is like that of a GPU: it has addresses, and the CPU that touches them crashes. The
// libraries of the stand-in have the functions of a driver that iocomp calls, and these.
extern "C" {
/// @param kind  in the numbers of the driver.
void* stand_in_allocate(std::size_t bytes, int kind);
void stand_in_free(void* memory);
/// From memory of the CPU.
void stand_in_set(void* to, const void* from, std::size_t bytes);
/// All copies fail from now on, or none.
void stand_in_fail(int fails);
/// Bytes that were copied to the CPU.
std::size_t stand_in_copied();
/// Streams, events and pinned memory that were not given back.
int stand_in_left();
}

namespace stand_in {

/// The kind that `stand_in_allocate` was told; 0 for other memory.
int kind_of(const void* address);
/// Pinned memory of the CPU.
void* pin(std::size_t bytes);
bool unpin(void* memory);
/// A stream or event, or one less.
void* make();
void destroy(void* thing);
/// A copy is begun: carried out when somebody waits for it. False where it cannot be: the values
/// must lie in the GPU, and go to pinned memory.
bool begin_copy(void* to, const void* from, std::size_t bytes);
void end_copies();

}  // namespace stand_in
