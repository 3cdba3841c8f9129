// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "commit/json_values.h"

namespace iocomp::commit {

/// Of the form of a manifest; a later release reads those of all earlier ones.
inline constexpr int manifest_version = 2;  // 2: a line may tell of many steps

/// Of a variable in a step: the checksums of its blocks, [[[start], [count], "16 hex digits"],
/// ...]. Of the manifest itself, at its end: that of all that stands before, "16 hex digits".
inline constexpr const char* sums_key = "xxh3";

/// @param text  of a manifest, @param manifest  what it says.
/// @throws Error{storage_failure} if it has a checksum of its own that does not fit.
void check_seal(std::string_view text, const Json& manifest);
/// For what is about to be changed: without a checksum of its own.
void unseal(Json& manifest);

struct TargetNames;
/// The temporary name of the manifest (".json") or of the XDMF file (".xdmf"). Of a server it is
/// another than of those who may take its file over.
[[nodiscard]] std::string beside_temporary(const TargetNames& names, std::string_view ending);
/// Remove what a server has left that ended while it wrote these. For those who go on without it.
/// Never throws.
void remove_server_files(const TargetNames& names) noexcept;

}  // namespace iocomp::commit
