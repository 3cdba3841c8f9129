#pragma once

#include <cstdint>

#include "contents/catalogue.h"
#include "formats/format.h"

namespace iocomp::formats {

/// Have a target make room for a variable in a step, after it was told of all variables where it
/// wants to know them. @throws as Target::place.
std::int64_t place(Target& target, const contents::Catalogue& catalogue, int variable,
                   std::int64_t step);

}  // namespace iocomp::formats
