// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace iocomp {

/// What concerns a target that may be a file or a folder of files: every dataset of ADIOS2's BP
/// formats is a folder.

/// Bytes of a file, or of all files in a folder.
/// @throws Error{storage_failure}.
[[nodiscard]] std::int64_t size_of_target(const std::string& path);

/// fsync a file, or all files in a folder and the folder itself. What others have written from this
/// node is durable then too.
/// @throws Error{storage_failure}.
void make_durable(const std::string& path);

/// Remove a file, or a folder with what is in it, if it is there. Never throws, follows no links.
void remove_target(const std::string& path) noexcept;

/// Whether a folder is one that a format has written: it has files only, and one of them is `mark`.
[[nodiscard]] bool is_folder_of_a_format(const std::string& path, const std::string& mark);

}  // namespace iocomp
