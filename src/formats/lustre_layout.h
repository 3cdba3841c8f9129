// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/path.h"
#include "formats/file_system.h"

namespace iocomp::formats {

/// The bytes that tell Lustre how to stripe a file (lustre_user.h: struct lov_user_md_v1 for one
/// part, without objects, else lov_comp_md_v1). Pure.
[[nodiscard]] std::vector<std::byte> lustre_layout(std::span<const StripedPart> parts,
                                                   std::int64_t stripe_bytes);

/// The layouts to try for a new file there, the best first. There are none if there is nothing to
/// choose, or somebody has chosen. Lustre before 2.10 knows no parts. Pure.
[[nodiscard]] std::vector<std::vector<std::byte>> layouts_for(const FileSystemFacts& facts);

/// Gives an open file such a layout. @return 0 or errno.
using SetLayout = std::function<int(int file, std::span<const std::byte> layout)>;

/// Make a file that is not there yet, with this layout. Local.
/// @return 0 or errno: EEXIST if something has its name. After any other error there is no file.
/// @throws Error{storage_failure} if no file can be made.
[[nodiscard]] int make_striped(const Path& path, std::span<const std::byte> layout,
                               const SetLayout& set);

/// Make the physical file of a target and open it; a file of that name is replaced. On Lustre, if
/// its folder has no layout of its own, it gets the one of `advise`: Lustre fixes the layout of a
/// file when it is made. If that fails, the log tells it, and the file is made without.
/// @param access  O_RDWR or O_WRONLY. @throws Error{storage_failure}. Local.
[[nodiscard]] Descriptor make_file(const Path& path, int access);
/// The same, but if another process of this job has made it, it is opened.
[[nodiscard]] Descriptor make_or_share_file(const Path& path, int access);

}  // namespace iocomp::formats
