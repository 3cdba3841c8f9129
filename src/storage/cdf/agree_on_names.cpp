#include "storage/cdf/agree_on_names.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/checked.h"
#include "base/wire.h"
#include "mpi/error.h"
#include "storage/variable.h"

namespace iocomp::storage::cdf {

Variable agree_on_names(const Variable& variable, MPI_Comm writers) {
  WireWriter writer;
  writer.put(variable.dimensions.has_value());
  writer.put_text(variable.dimensions.value_or(""));
  writer.put(variable.fill_value.has_value());
  const Attribute fill = variable.fill_value.value_or(Attribute{});
  writer.put(fill.type);
  writer.put(fill.is_text);
  writer.put_bytes(fill.values);
  auto bytes = writer.take();
  auto size = static_cast<std::int64_t>(bytes.size());
  mpi::check(MPI_Bcast(&size, 1, MPI_INT64_T, 0, writers));
  bytes.resize(static_cast<std::size_t>(size));
  mpi::check(MPI_Bcast(bytes.data(), checked_cast<int>(size), MPI_BYTE, 0, writers));

  WireReader reader{bytes};
  Variable agreed = variable;
  const bool has_dimensions = reader.get<bool>();
  agreed.dimensions = reader.get_text();
  if (!has_dimensions) {
    agreed.dimensions.reset();
  }
  const bool has_fill = reader.get<bool>();
  Attribute told;
  told.type = reader.get<array::ElementType>();
  told.is_text = reader.get<bool>();
  const auto values = reader.get_bytes();
  told.values.assign(values.begin(), values.end());
  agreed.fill_value.reset();
  if (has_fill) {
    agreed.fill_value = told;
  }
  return agreed;
}

}  // namespace iocomp::storage::cdf
