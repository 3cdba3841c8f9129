// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/time_chunks.h"

#include <cstddef>
#include <cstdint>

#include "array/element_type.h"
#include "formats/chunks/record_chunks.h"
#include "formats/format.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

bool is_string(const Variable& variable, const FormatOptions& options) {
  return options.has_strings && holds_texts(variable);
}

std::size_t dimensions_of_elements(const Variable& variable, const FormatOptions& options) {
  const auto dimensions = static_cast<std::size_t>(variable.shape.dimensions);
  return is_string(variable, options) ? dimensions - 1 : dimensions;
}

}  // namespace

TimeChunks::TimeChunks(const Variable& variable, const FormatOptions& options)
    : RecordChunks{variable, dimensions_of_elements(variable, options),
                   options.storage_of(variable.name).chunk_bytes},
      stored_bytes{element_bytes},
      compression{options.storage_of(variable.name).compression} {
  if (is_string(variable, options)) {
    stored_bytes = static_cast<std::size_t>(variable.shape.extent.at(lengths.size()));
  }
  const std::int64_t record_bytes = variable.bytes();
  steps = steps_in_chunk(record_bytes);
  is_filtered = compression.is_on() && record_bytes > 0 && steps == 1;
  shape = {steps};
  shape.insert(shape.end(), lengths.begin(), lengths.end());
  if (options.splits_complex_numbers && array::is_complex(variable.type)) {
    stored_bytes = array::number_bytes(variable.type);
    shape.push_back(2);
  }
}

}  // namespace iocomp::formats::h5
