// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.h"

namespace iocomp {

/// Read bytes. @return how many the file has of them, or the errno, below zero.
[[nodiscard]] std::int64_t read_at(const Descriptor& file, std::int64_t offset,
                                   std::span<std::byte> bytes) noexcept;
/// Write all of these bytes. @return 0 or the errno.
[[nodiscard]] int write_at(const Descriptor& file, std::int64_t offset,
                           std::span<const std::byte> bytes) noexcept;

/// Read bytes, all of which the file has.
/// @throws Error{storage_failure} with the errno text, or where it ends too early.
void read_plainly(const Descriptor& file, std::int64_t offset, std::span<std::byte> bytes,
                  const std::string& path);
/// Write bytes without the library that could not: MPI does not say why a write was short, the
/// system does. Where this succeeds there is nothing to tell.
/// @throws Error{storage_failure} with the errno text.
void write_plainly(const Descriptor& file, std::int64_t offset, std::span<const std::byte> bytes,
                   const std::string& path);

/// The length of a file. @throws Error{storage_failure} with the errno text, as those below.
[[nodiscard]] std::int64_t length_of(const Descriptor& file, const std::string& path);
/// Cut a file, or make it longer, by zeros.
void set_length(const Descriptor& file, std::int64_t bytes, const std::string& path);
/// fsync a file.
void make_durable(const Descriptor& file, const std::string& path);

/// Let the disk begin with the bytes written there, so that the next fsync has less to do. A hint:
/// what fails is told by that fsync.
void begin_flush(const Descriptor& file, std::int64_t offset, std::int64_t bytes) noexcept;

}  // namespace iocomp
