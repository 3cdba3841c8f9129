#pragma once

namespace iocomp::commit {

/// Of the form of a manifest; a later release reads those of all earlier ones.
inline constexpr int manifest_version = 1;

}  // namespace iocomp::commit
