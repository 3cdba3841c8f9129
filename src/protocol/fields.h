// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "base/wire.h"
#include "contents/fields.h"
#include "protocol/header.h"
#include "protocol/messages.h"

namespace iocomp::protocol {

// A source that includes this header instantiates `encode` and `decode` of its records.
using contents::check;
using contents::FieldReader;
using contents::FieldWriter;
using contents::Is;

// Records of other rooms.
void fields(auto& io, Is<Outcome> auto& outcome);
void fields(auto& io, Is<StepCounts> auto& counts);
void fields(auto& io, Is<Counters> auto& numbers);
void fields(auto& io, Is<std::uint64_t> auto& number);

// The message is written at once where it will lie, header in front.
template <typename Record>
Bytes encode(std::uint64_t file, Kind kind, const Record& record) {
  WireWriter writer;
  writer.reserve(sizeof(Header) + sizeof record);
  writer.put(Header{});
  FieldWriter io{writer};
  fields(io, record);
  Bytes bytes = writer.take();
  const Header header{magic, version, kind, bytes.size() - sizeof(Header), file};
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

template <typename Record>
Record decode(std::span<const std::byte> body) {
  FieldReader io{body};
  Record record;
  fields(io, record);
  return record;
}

}  // namespace iocomp::protocol
