// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/step_links.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/hdf5/encoding.h"
#include "formats/hdf5/metadata_buffer.h"
#include "formats/hdf5/metadata_room.h"
#include "formats/hdf5/object_header.h"

namespace iocomp::formats::h5 {
namespace {

constexpr std::size_t links_in_block = 128;

}  // namespace

void StepLinks::forget(std::int64_t from) {
  while (!links_.empty() && links_.back().step >= from) {
    links_.pop_back();
  }
  full_.resize(std::min(full_.size(), links_.size() / links_in_block));
}

// Specification, IV.A.2.g: a hard link, with a name of less than 256 characters of ASCII.
HeaderMessage StepLinks::link(std::size_t index) const {
  const std::string name = std::to_string(links_[index].number);
  Encoder encoder;
  encoder.put8(1);  // version
  encoder.put8(0);  // the length of the name has one byte; nothing else is told
  encoder.put8(static_cast<std::uint8_t>(name.size()));
  encoder.put_text(name);
  encoder.put64(links_[index].address);
  return {HeaderMessage::link, 0, encoder.take()};
}

// A block goes on in the one before it.
void StepLinks::fill_block() {
  std::vector<HeaderMessage> messages;
  if (!full_.empty()) {
    messages.push_back(continued_at(full_.back().address, full_.back().bytes));
  }
  const std::size_t first = full_.size() * links_in_block;
  for (std::size_t i = first; i < first + links_in_block; ++i) {
    messages.push_back(link(i));
  }
  const auto bytes = encode_continuation(messages);
  full_.push_back({room_.take(std::ssize(bytes)), bytes.size()});
  room_.file().buffer().write(full_.back().address, bytes);
}

std::int64_t StepLinks::write(int edition, const std::vector<HeaderMessage>& own) {
  while (links_.size() >= (full_.size() + 1) * links_in_block) {
    fill_block();
  }
  auto messages = own;
  if (!full_.empty()) {
    messages.push_back(continued_at(full_.back().address, full_.back().bytes));
  }
  for (std::size_t i = full_.size() * links_in_block; i < links_.size(); ++i) {
    messages.push_back(link(i));
  }
  const auto bytes = encode_object_header(messages);
  Place& place = headers_.at(static_cast<std::size_t>(edition));
  if (place.bytes < std::ssize(bytes)) {
    place = {room_.take(2 * std::ssize(bytes)), 2 * std::ssize(bytes)};
  }
  room_.file().buffer().write(place.address, bytes);
  return place.address;
}

}  // namespace iocomp::formats::h5
