// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/copy_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/free_ranges.h"
#include "base/huge_memory.h"
#include "client/tickets.h"
#include "transport/transport.h"

namespace iocomp::client {
namespace {

// A slab is small enough to be reserved in one call without a noticeable pause, and large enough
// for most blocks.
constexpr std::size_t slab_bytes = std::size_t{16} << 20;

}  // namespace

void CopyMemory::check(std::size_t bytes) const {
  if (bytes > limit_bytes_) {
    throw Error{
        ErrorCode::out_of_staging_memory,
        "asked for a copy of " + format_bytes(static_cast<std::int64_t>(bytes)) +
            ", client.buffer_memory is " + format_bytes(static_cast<std::int64_t>(limit_bytes_)) +
            ": put the block in parts, or without a copy (unbuffered, dense, of the type in the "
            "file), or raise the setting"};
  }
}

Copy CopyMemory::take(std::size_t bytes, std::size_t page_remainder) {
  check(bytes);
  return find(bytes, page_remainder, transport_ != nullptr && transport_->exports_memory());
}

// Gives private memory: nobody else reads it, and it has huge pages.
Copy CopyMemory::try_take_for_disk(std::size_t bytes, std::size_t page_remainder) {
  check(bytes);
  if (copies_for_disk_ > 0 && !has_room(bytes)) {
    return {};
  }
  return needed_for_disk(find(bytes, page_remainder, false));
}

Copy CopyMemory::needed_for_disk(Copy copy) {
  if (!copy) {
    return {};
  }
  ++copies_for_disk_;
  std::byte* const first = copy.get();
  return {first, [this, held = std::move(copy)](const std::byte* /*first*/) mutable {
            held.reset();
            --copies_for_disk_;
          }};
}

Copy CopyMemory::find(std::size_t bytes, std::size_t page_remainder, bool is_lent) {
  // In slabs every copy fills pages. That is too much for a few bytes that nobody reads in place.
  if (bytes < FreeRanges::page_bytes && page_remainder == 0 && !is_lent) {
    return take_small(bytes);
  }
  for (Slab& slab : slabs_) {
    const bool is_alike = slab.own.bytes().empty() == is_lent;
    if (Copy copy = is_alike ? take_from(slab, bytes, page_remainder) : Copy{}) {
      return copy;
    }
  }
  if (Slab* const slab = add_slab(bytes + page_remainder, is_lent)) {
    return take_from(*slab, bytes, page_remainder);
  }
  return find(bytes, page_remainder, false);  // the system has no such memory to lend
}

void CopyMemory::use(std::size_t bytes) noexcept {
  used_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, used_bytes());
}

bool CopyMemory::lets_stripes_have(std::size_t bytes) noexcept {
  if (!has_room(bytes)) {
    return false;
  }
  peak_bytes_ = std::max(peak_bytes_, used_bytes() + bytes);
  return true;
}

Copy CopyMemory::take_small(std::size_t bytes) {
  use(bytes);
  return {new std::byte[bytes], [this, bytes](const std::byte* first) {
            delete[] first;
            used_bytes_ -= bytes;
          }};
}

Copy CopyMemory::take_from(Slab& slab, std::size_t bytes, std::size_t page_remainder) {
  const std::size_t taken = std::max<std::size_t>(bytes + page_remainder, 1);
  const auto offset = slab.free.take(taken);
  if (!offset) {
    return {};
  }
  use(bytes);
  return {slab.memory.data() + *offset + page_remainder,
          [this, &slab, offset = *offset, taken, bytes](const std::byte* /*first*/) {
            slab.free.give_back(offset, taken);
            used_bytes_ -= bytes;
          }};
}

CopyMemory::Slab* CopyMemory::add_slab(std::size_t bytes, bool is_lent) {
  // Free slabs that are too small are not needed beside a larger one.
  std::erase_if(slabs_, [this](const Slab& slab) {
    return slab.free.used_bytes() == 0 &&
           (!slab.own.bytes().empty() || transport_->withdraw_memory(slab.memory.data()));
  });
  const std::size_t wanted =
      whole_pages(std::max(bytes, std::min(slab_bytes, std::max(limit_bytes_, bytes))));
  Slab slab;
  if (is_lent) {
    slab.memory = transport_->export_memory(wanted, true);
    if (slab.memory.empty()) {
      return nullptr;
    }
  } else {
    slab.own = HugeMemory{wanted, "copies"};
    slab.memory = slab.own.bytes();
  }
  slab.free = FreeRanges{slab.memory.size() / FreeRanges::page_bytes * FreeRanges::page_bytes};
  slabs_.push_back(std::move(slab));
  return &slabs_.back();
}

}  // namespace iocomp::client
