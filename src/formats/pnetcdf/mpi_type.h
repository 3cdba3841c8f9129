#pragma once

#include <mpi.h>

#include "array/element_type.h"

namespace iocomp::formats::cdf {

/// The elements in memory as MPI calls them. @pre netCDF has the type.
[[nodiscard]] MPI_Datatype mpi_type(array::ElementType type);

}  // namespace iocomp::formats::cdf
