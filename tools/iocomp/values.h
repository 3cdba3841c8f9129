// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "array/box.h"
#include "reading/input.h"

namespace iocomp::command {

/// Read a box of a variable in parts of a few MiB, which follow one another in its packed order.
/// @param take  gets each part, and how many elements came before it.
void read_in_parts(reading::Input& input, const std::string& variable, std::int64_t step,
                   const array::Box& box,
                   const std::function<void(std::span<const std::byte>, std::int64_t)>& take);

}  // namespace iocomp::command
