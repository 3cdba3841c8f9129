// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/record_filters.h"

#include <cstddef>
#include <span>
#include <utility>

#include "formats/format.h"
#include "formats/hdf5/library_filter.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/packed_writer.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

void RecordFilters::filter(const Variable& variable, std::span<const std::byte> whole, Packed& to) {
  const TimeChunks chunks{variable, options_};
  if (chunks.compression.method == Compression::Method::filter) {
    auto found = of_library_.find(variable.id);
    if (found == of_library_.end() || found->second.shape() != variable.shape) {
      found = of_library_.insert_or_assign(variable.id, LibraryFilter{variable, options_}).first;
    }
    to.filter_mask = found->second.filter(whole, to.bytes);
    return;
  }
  auto filter = spares_.take();
  const auto filtered = filter->filter(whole, chunks.stored_bytes, chunks.compression);
  to.bytes.assign(filtered.begin(), filtered.end());
  to.filter_mask = 0;
  spares_.give_back(std::move(filter));
}

}  // namespace iocomp::formats::h5
