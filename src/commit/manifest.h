// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iocomp::commit {

/// Of the form of a manifest; a later release reads those of all earlier ones.
inline constexpr int manifest_version = 2;  // 2: a line may tell of many steps

/// Of a variable in a step: the checksums of its blocks, [[[start], [count], "16 hex digits"],
/// ...].
inline constexpr const char* sums_key = "xxh3";

struct TargetNames;
/// Remove what a server has left that ended while it wrote the manifest. For those who go on
/// without it. Never throws.
void remove_server_manifest(const TargetNames& names) noexcept;

}  // namespace iocomp::commit
