#include "formats/cdf/agree_on_names.h"

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "base/wire.h"
#include "formats/words.h"
#include "mpi/agree.h"

namespace iocomp::formats::cdf {

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
  mpi::broadcast(writers, 0, bytes, {}, "the other writers of a file");

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

}  // namespace iocomp::formats::cdf
