// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <adios2.h>

#include <cstddef>
#include <string>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/format.h"
#include "formats/rules.h"
#include "formats/words.h"

namespace iocomp::formats::bp {

/// A variable for steps that would have nothing: BP4 cannot read empty steps.
inline constexpr const char* empty_step = reserved::adios2_variables.front().data();

/// The type of elements in ADIOS2: readers of BP5 know no single characters, which become uint8.
[[nodiscard]] array::ElementType stored_type(const Variable& variable) noexcept;

/// Let an IO know a variable, or its new shape. Local. A scalar is a single value.
void define(adios2::IO& io, const Variable& variable);

/// The same with the operator of ADIOS2 that a variable of some dimensions passes. Lossy operators
/// are for floating-point numbers.
void define(adios2::IO& io, const Variable& variable, const Storage& storage);

/// Put a box of a defined variable. `values` stay until the end of the step.
void put(adios2::IO& io, adios2::Engine& engine, const Variable& variable, const array::Box& box,
         const std::byte* values);

/// Let an IO know an attribute, or its new value: one value, an array, or text. ADIOS2 has no
/// complex attributes: they become arrays of real and imaginary parts in turn.
/// @param variable  empty for an attribute of the file.
void define(adios2::IO& io, const std::string& variable, const std::string& name,
            const Attribute& attribute);

}  // namespace iocomp::formats::bp
