// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contents/description.h"
#include "contents/variable.h"

namespace iocomp::formats {

// The words in which the contents of a file are told.
using contents::Attribute;
using contents::Attributes;
using contents::Description;
using contents::Inventory;
using contents::Placed;
using contents::Variable;

}  // namespace iocomp::formats
