// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace actor {

/// Play one script after the other in this launch. The pipe FOLDER/orders<rank> brings the paths of
/// orders, one on each line; an empty line or its end is the end. After each script a line goes
/// into the pipe FOLDER/answers. A rank that waits for an order sleeps. company.py is the other
/// end.
///
/// An order is a JSON object: `script`, `journals` (the folder of journals and of what is printed),
/// `folder` (the working directory), `environment` (more variables). Collective over the world.
/// @throws std::runtime_error as play() does.
void keep_company(const std::string& folder);

}  // namespace actor
