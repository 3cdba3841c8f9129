// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "commit/json_values.h"

namespace iocomp::commit {

/// Of the form of a manifest; a later release reads those of all earlier ones.
inline constexpr int manifest_version = 2;  // 2: an entry may tell of many steps; added lines

/// Of a variable in a step: the checksums of its blocks, [[[start], [count], "16 hex digits"],
/// ...]. Of the manifest itself, at its end: that of all that stands before, "16 hex digits".
inline constexpr const char* sums_key = "xxh3";

struct ManifestHead;
struct TargetNames;
class StepLines;

/// What is added to a manifest when steps are new and nothing else: "bytes", "committed_steps" and
/// "absent", which hold from then on, and a checksum, in one line. The new ones are "steps", which
/// come behind the others, or "more", which the last entry of "steps" also tells of:
/// {"count": so many, "time": [theirs], "advance": [of each variable, where it was not told]}.
/// @param more  see StepLines::continued; nothing where the line lists the new steps ...
/// @param fresh  ... these.
[[nodiscard]] std::string manifest_line(const ManifestHead& head,
                                        const std::optional<std::string>& more,
                                        const StepLines& fresh);
/// Such a line with its checksum. @param line  up to there, without the brace that ends it.
[[nodiscard]] std::string sealed_line(std::string line);
/// What a manifest says, with all lines that were added to it. A last line that is torn does not
/// count: it is of a commit that did not end.
/// @throws Json::exception or Error{storage_failure} for text that is no manifest, or whose own
/// checksum does not fit; Error{unsupported} for a manifest of a later release.
[[nodiscard]] Json whole_manifest(std::string_view text);
/// For what is about to be changed: without a checksum of its own.
void unseal(Json& manifest);

/// Of a file that is made to see whether files can be made.
inline constexpr const char* trial_ending = ".try";
/// The temporary name of the manifest (".json") or of a trial. Of a server it is another than of
/// those who may take its file over.
[[nodiscard]] Path beside_temporary(const TargetNames& names, std::string_view ending);
/// Remove what a server has left that ended while it wrote these. For those who go on without it.
/// Never throws.
void remove_server_files(const TargetNames& names) noexcept;

}  // namespace iocomp::commit
