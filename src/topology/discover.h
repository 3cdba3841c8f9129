// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topology/node.h"

namespace iocomp::topology {

/// The node this process runs on, with what its cgroup and its affinity mask allow. hwloc's
/// variables HWLOC_SYNTHETIC and HWLOC_XMLFILE are honoured, and refused when they are wrong.
/// @throws Error{unsupported} with the operating system's text.
[[nodiscard]] Node this_machine();

/// The same with all that its cgroup allows, whatever a launcher has bound this process to.
[[nodiscard]] Node whole_machine();

/// A node from a file that `lstopo FILE.xml` wrote. What was disallowed there is so here.
/// @throws Error{invalid_argument} naming the file.
[[nodiscard]] Node from_xml(const std::string& path);

/// A node from hwloc's synthetic text, such as "pack:2 core:4 pu:2".
/// @throws Error{invalid_argument} naming the text: hwloc alone would silently take this machine.
[[nodiscard]] Node from_synthetic(const std::string& text);

/// Reads a user's description of a node: "" or "this" for this machine, "archer2", the name of a
/// file, or synthetic text.
[[nodiscard]] Node describe(const std::string& text);

}  // namespace iocomp::topology
