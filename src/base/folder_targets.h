// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/open_folder.h"
#include "base/path.h"

namespace iocomp {

/// Targets that may be a file or a folder of files. Every dataset of ADIOS2's BP formats is a
/// folder. So is every store of Zarr, with a folder in it for each array.

/// Bytes of a file, or of all files in a folder; nothing if it is not there. A link is followed.
/// @throws Error{storage_failure}.
[[nodiscard]] std::optional<std::int64_t> size_if_there(const Path& path);
/// The same. @throws Error{storage_failure}, also if it is not there.
[[nodiscard]] std::int64_t size_of_target(const Path& path);

/// fsync a file, or all files in a folder and the folder itself. What others have written from this
/// node is durable then too.
/// @throws Error{storage_failure}.
void make_durable(const Path& path);
/// The same of such a folder.
void make_durable(const OpenFolder& folder);

/// @param links  as they are for whoever writes there, followed for whoever reads.
[[nodiscard]] bool is_folder(const Path& path,
                             OpenFolder::Links links = OpenFolder::Links::as_they_are);
/// True if a format has written this folder: it has files, one of which is `mark`, and folders of
/// the same kind, which have files only.
[[nodiscard]] bool is_folder_of_a_format(const Path& path, const std::string& mark);

}  // namespace iocomp
