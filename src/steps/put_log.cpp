// SPDX-License-Identifier: BSD-3-Clause
#include "steps/put_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/wire.h"

namespace iocomp::steps {

void PutLog::add(const PutRecord& put) {
  if (put.part.region.runs) {
    lists_.push_back(put);
    return;
  }
  const array::Box& box = put.part.region.box;
  boxes_.put(put.variable);
  boxes_.put(put.rank);
  boxes_.put(put.part.first);
  boxes_.put(put.part.count);
  boxes_.put(static_cast<std::int8_t>(box.dimensions));
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
    boxes_.put(box.start[d]);
    boxes_.put(box.count[d]);
  }
}

void PutLog::clear() {
  (void)boxes_.take();
  lists_.clear();
}

std::vector<PutRecord> PutLog::of(std::span<const std::int32_t> variables) const {
  std::vector<PutRecord> found;
  const auto is_wanted = [&](const PutRecord& put) {
    return std::ranges::find(variables, put.variable) != variables.end();
  };
  std::ranges::copy_if(lists_, std::back_inserter(found), is_wanted);
  WireReader reader{boxes_.bytes()};
  while (reader.bytes_left() > 0) {
    PutRecord put;
    put.variable = reader.get<std::int32_t>();
    put.rank = reader.get<std::int32_t>();
    put.part.first = reader.get<std::int64_t>();
    put.part.count = reader.get<std::int64_t>();
    array::Box box;
    box.dimensions = reader.get<std::int8_t>();
    for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
      box.start.at(d) = reader.get<std::int64_t>();
      box.count.at(d) = reader.get<std::int64_t>();
    }
    put.part.region = box;
    if (is_wanted(put)) {
      found.push_back(std::move(put));
    }
  }
  return found;
}

}  // namespace iocomp::steps
