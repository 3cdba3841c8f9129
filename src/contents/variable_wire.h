#pragma once

#include "array/box.h"
#include "array/element_type.h"
#include "base/wire.h"
#include "contents/variable.h"

namespace iocomp::contents {

// How what is told of variables travels. What is read is checked, and refused with an Error.

[[nodiscard]] array::ElementType get_type(WireReader& reader);

void put(WireWriter& writer, const Attribute& attribute);
[[nodiscard]] Attribute get_attribute(WireReader& reader);

}  // namespace iocomp::contents
