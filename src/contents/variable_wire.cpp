// SPDX-License-Identifier: BSD-3-Clause
#include "contents/variable_wire.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/wire.h"
#include "contents/description.h"
#include "contents/variable.h"

namespace iocomp::contents {

array::ElementType get_type(WireReader& reader) {
  const int value = reader.get<std::uint8_t>();
  const auto type = array::element_type(value);
  if (!type) {
    throw Error{ErrorCode::internal,
                "a message has " + std::to_string(value) + " where the type of elements is"};
  }
  return *type;
}

void put(WireWriter& writer, const Attribute& attribute) {
  writer.put(attribute.type);
  writer.put(attribute.is_text);
  writer.put(attribute.is_list);
  writer.put_bytes(attribute.values);
}

Attribute get_attribute(WireReader& reader) {
  Attribute attribute;
  attribute.type = get_type(reader);
  attribute.is_text = reader.get_truth();
  attribute.is_list = reader.get_truth();
  const auto values = reader.get_bytes();
  if (values.size() % array::size_bytes(attribute.type) != 0) {
    throw Error{ErrorCode::internal, "a message has an attribute of " +
                                         std::to_string(values.size()) + " bytes, of type " +
                                         std::string{array::name(attribute.type)}};
  }
  attribute.values.assign(values.begin(), values.end());
  return attribute;
}

void put(WireWriter& writer, const BlockSum& sum) {
  writer.put(static_cast<std::int8_t>(sum.box.dimensions));
  for (std::size_t d = 0; d < static_cast<std::size_t>(sum.box.dimensions); ++d) {
    writer.put(sum.box.start[d]);
    writer.put(sum.box.count[d]);
  }
  writer.put(sum.checksum);
}

BlockSum get_block_sum(WireReader& reader) {
  BlockSum sum;
  sum.box.dimensions = reader.get<std::int8_t>();
  for (int d = 0; d < std::min(sum.box.dimensions, array::max_dimensions); ++d) {
    sum.box.start.at(static_cast<std::size_t>(d)) = reader.get<std::int64_t>();
    sum.box.count.at(static_cast<std::size_t>(d)) = reader.get<std::int64_t>();
  }
  array::check(sum.box);
  sum.checksum = reader.get<std::uint64_t>();
  return sum;
}

}  // namespace iocomp::contents
