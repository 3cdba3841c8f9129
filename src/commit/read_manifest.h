// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "commit/commit.h"
#include "contents/description.h"
#include "formats/source.h"

namespace iocomp::commit {

/// The contents of a manifest.
struct Manifest {
  std::string name{};      ///< name of the file in the program
  std::string format;      ///< "posix"
  std::string kind{};      ///< "series" or "checkpoint"
  std::int64_t bytes = 0;  ///< the least size of the file
  std::int64_t first_step = 0;
  std::int64_t committed_steps = 0;  ///< number of steps from there on, with the absent ones
  std::vector<std::int64_t> absent;  ///< steps that failed
  contents::Inventory inventory;
  Superseded supersedes{};
};

/// True if a text is JSON, and no manifest. A torn manifest is no JSON.
[[nodiscard]] bool is_other_json(const std::string& text);

/// True if a file that is called like this step of a set is that step. A file of all steps may be
/// called so too: "run.19900101.nc".
[[nodiscard]] bool is_step_of_set(const Manifest& manifest, std::int64_t step) noexcept;

/// The path of a file to read, beside which its manifest lies: where the path is a link that has no
/// manifest of its own, that of the file to which it leads.
[[nodiscard]] Path followed(const Path& path);

/// The manifest in force, as text; nothing if there is none. While a file is being replaced, this
/// is the manifest of the old file, until the new one has its name.
/// @throws Error{storage_failure}.
[[nodiscard]] std::optional<std::string> manifest_in_force(const Path& path);
/// The same for a text that was read already.
[[nodiscard]] std::optional<std::string> in_force(std::optional<std::string> text,
                                                  const Path& path);

/// Refuse a file that is shorter than its manifest says.
/// @param action  for the message: "cannot read".
/// @throws Error{storage_failure} with both numbers.
void check_size(const Path& path, std::int64_t bytes, const char* action = "read");
/// The same for readers. A file that shows by itself that it is whole may be shorter, because other
/// programs write files anew (h5repack, nccopy). A series of so many files that its manifest tells
/// no size must have those of its newest step.
/// @param modules  see formats::open_source.
void check_whole(const Path& path, const Manifest& manifest, const std::string& modules = {});

/// @param path  of the manifest, for messages.
/// @throws Error{storage_failure} for text that is no manifest, or that contradicts itself;
/// Error{unsupported} for one of a later release, or of a machine with the other byte order.
[[nodiscard]] Manifest parse_manifest(const std::string& text, const std::string& path);

}  // namespace iocomp::commit
