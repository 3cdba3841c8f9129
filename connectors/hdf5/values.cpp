// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/values.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/stream_copy.h"
#include "hdf5/selection_runs.h"

namespace iocomp::hdf5 {
namespace {

constexpr std::size_t values_at_once = 8192;  // small enough for a cache

bool is_number(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || kind == H5T_FLOAT;
}

}  // namespace

// A conversion of the program's own may ask for the values that are in the file.
bool Conversion::is_possible(hid_t from, hid_t to) {
  H5T_cdata_t* found = nullptr;
  return is_number(from) && is_number(to) && H5Tfind(from, to, &found) != nullptr &&
         found->need_bkg == H5T_BKG_NO;
}

Values::Values(SelectionRuns selection, const void* memory, std::optional<Conversion> conversion)
    : selection_{std::move(selection)},
      memory_{static_cast<const std::byte*>(memory)},
      conversion_{conversion} {
  if (conversion_) {
    converted_.resize(values_at_once *
                      std::max(H5Tget_size(conversion_->from), H5Tget_size(conversion_->to)));
  }
}

std::span<const std::byte> Values::next(std::uint64_t most) {
  if (left_.empty()) {
    find_more();
  }
  const auto next = left_.first(std::min<std::uint64_t>(most, left_.size()));
  left_ = left_.subspan(next.size());
  return next;
}

void Values::copy_to(std::span<std::byte> room) {
  while (!room.empty()) {
    const auto from = next(room.size());
    if (from.empty()) {
      throw Error{ErrorCode::internal, "HDF5 tells of fewer values than it has counted"};
    }
    stream_copy(room.data(), from.data(), from.size());
    room = room.subspan(from.size());
  }
}

bool Values::lie_together(std::uint64_t bytes) {
  if (left_.empty()) {
    find_more();
  }
  return !conversion_ && left_.size() == bytes;
}

void Values::find_more() {
  if (conversion_) {
    convert_more();
    return;
  }
  const ByteRun run = selection_.next(std::numeric_limits<std::uint64_t>::max());
  left_ = {memory_ + run.offset, run.bytes};
}

void Values::convert_more() {
  const std::size_t size = H5Tget_size(conversion_->from);
  std::size_t bytes = 0;
  while (bytes < values_at_once * size) {
    const ByteRun run = selection_.next(values_at_once * size - bytes);
    if (run.bytes == 0) {
      break;
    }
    std::memcpy(converted_.data() + bytes, memory_ + run.offset, run.bytes);
    bytes += run.bytes;
  }
  const std::size_t count = bytes / size;
  if (H5Tconvert(conversion_->from, conversion_->to, count, converted_.data(), nullptr,
                 conversion_->transfer_list) < 0) {
    throw Error{ErrorCode::invalid_argument, "HDF5 cannot convert the values"};
  }
  left_ = std::span{converted_}.first(count * H5Tget_size(conversion_->to));
}

}  // namespace iocomp::hdf5
