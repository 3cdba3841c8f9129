#pragma once

#include <mpi.h>

#include "storage/variable.h"

namespace iocomp::storage::cdf {

/// Give a variable the attributes that the first writer knows of it: a writer may have heard of
/// later ones already, and all must define the same. Collective over `writers`.
[[nodiscard]] Variable agree_on_names(const Variable& variable, MPI_Comm writers);

}  // namespace iocomp::storage::cdf
