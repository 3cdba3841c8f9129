#pragma once

#include <mpi.h>

#include "formats/words.h"

namespace iocomp::formats::cdf {

/// Give a variable the attributes that the first writer knows of it: a writer may have heard of
/// later ones already, and all must define the same. Collective over `writers`.
[[nodiscard]] Variable agree_on_names(const Variable& variable, MPI_Comm writers);

}  // namespace iocomp::formats::cdf
