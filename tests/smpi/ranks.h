// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "counts.h"

namespace smpi {

/// The counts of the rank that calls. @pre it is one
smpi_counts& counts_of_this();

}  // namespace smpi
