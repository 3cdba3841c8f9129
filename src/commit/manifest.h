// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "commit/json_values.h"

namespace iocomp::commit {

/// The version of the form of a manifest. A later release reads all earlier ones.
inline constexpr int manifest_version = 2;  // 2: an entry may tell of many steps; added lines

/// The key of a checksum. In a variable of a step, it has the checksums of the blocks, [[[start],
/// [count], "16 hex digits"], ...]. At the end of a manifest, it has that of all text before it,
/// "16 hex digits".
inline constexpr const char* sums_key = "xxh3";

struct ManifestHead;
struct TargetNames;
class StepLines;

/// A line that is added to a manifest when there are new steps and no other change. It has "bytes",
/// "committed_steps" and "absent", which hold from then on, and a checksum. The new steps are in
/// "steps", as entries behind the others, or in "more", which continues the last entry of "steps":
/// {"count": number of new steps, "time": [their times], "advance": [one for each variable, if it
/// was not told yet]}.
/// @param more  see StepLines::continued; nothing if the line lists the new steps.
/// @param fresh  the new steps for such a list.
[[nodiscard]] std::string manifest_line(const ManifestHead& head,
                                        const std::optional<std::string>& more,
                                        const StepLines& fresh);
/// The line with its checksum. @param line  without the brace that ends it.
[[nodiscard]] std::string sealed_line(std::string line);
/// The contents of a manifest, with all lines that were added to it. A last line that is torn does
/// not count, because its commit did not end.
/// @throws Json::exception or Error{storage_failure} if the text is no manifest, or its own
/// checksum does not fit; Error{unsupported} for a manifest of a later release.
[[nodiscard]] Json whole_manifest(std::string_view text);
/// Remove the checksum of a manifest that is about to be changed.
void unseal(Json& manifest);

/// The ending of a file that is made to see whether files can be made.
inline constexpr const char* trial_ending = ".try";
/// The temporary name of the manifest (".json") or of a trial. A server's temporary has another
/// name than that of the ranks that may take its file over.
[[nodiscard]] Path beside_temporary(const TargetNames& names, std::string_view ending);
/// Remove the temporaries of a server that ended while it wrote them. Called by those who go on
/// without it. Never throws.
void remove_server_files(const TargetNames& names) noexcept;

}  // namespace iocomp::commit
