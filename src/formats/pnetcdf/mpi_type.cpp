#include "formats/pnetcdf/mpi_type.h"

#include <mpi.h>

#include "array/element_type.h"

namespace iocomp::formats::cdf {

MPI_Datatype mpi_type(array::ElementType type) {
  using array::ElementType;
  switch (type) {
    case ElementType::character:
      return MPI_CHAR;
    case ElementType::int8:
      return MPI_SIGNED_CHAR;
    case ElementType::int16:
      return MPI_SHORT;
    case ElementType::int32:
      return MPI_INT;
    case ElementType::int64:
      return MPI_LONG_LONG_INT;
    case ElementType::uint8:
      return MPI_UNSIGNED_CHAR;
    case ElementType::uint16:
      return MPI_UNSIGNED_SHORT;
    case ElementType::uint32:
      return MPI_UNSIGNED;
    case ElementType::uint64:
      return MPI_UNSIGNED_LONG_LONG;
    case ElementType::float32:
      return MPI_FLOAT;
    default:
      return MPI_DOUBLE;
  }
}

}  // namespace iocomp::formats::cdf
