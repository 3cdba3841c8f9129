#include "client/copy_memory.h"

#include <algorithm>
#include <cstddef>
#include <list>
#include <span>

#include "base/free_ranges.h"
#include "client/tickets.h"
#include "transport/transport.h"

namespace iocomp::client {
namespace {

// Few enough to be reserved in one call without a pause that is felt, large enough for most blocks.
constexpr std::size_t slab_bytes = std::size_t{16} << 20;

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + FreeRanges::page_bytes - 1) / FreeRanges::page_bytes * FreeRanges::page_bytes;
}

}  // namespace

Copy CopyMemory::take(std::size_t bytes, std::size_t page_remainder) {
  for (Slab& slab : slabs_) {
    if (Copy copy = take_from(slab, bytes, page_remainder)) {
      return copy;
    }
  }
  if (Slab* const slab = add_slab(bytes + page_remainder)) {
    return take_from(*slab, bytes, page_remainder);
  }
  return Copy{new std::byte[bytes]};
}

Copy CopyMemory::take_from(Slab& slab, std::size_t bytes, std::size_t page_remainder) {
  const std::size_t taken = bytes + page_remainder;
  const auto offset = slab.free.take(taken);
  if (!offset) {
    return {};
  }
  return Copy{slab.memory.data() + *offset + page_remainder,
              [&slab, offset = *offset, taken](const std::byte* /*first*/) {
                slab.free.give_back(offset, taken);
              }};
}

CopyMemory::Slab* CopyMemory::add_slab(std::size_t bytes) {
  if (transport_ == nullptr) {
    return nullptr;
  }
  // What is free but too small in parts is not needed beside a larger one.
  std::erase_if(slabs_, [this](const Slab& slab) {
    return slab.free.used_bytes() == 0 && transport_->withdraw_memory(slab.memory.data());
  });
  const std::size_t wanted =
      whole_pages(std::max(bytes, std::min(slab_bytes, std::max(limit_bytes_, bytes))));
  const auto memory = transport_->export_memory(wanted, true);
  if (memory.empty()) {
    return nullptr;
  }
  slabs_.push_back({memory, FreeRanges{memory.size()}});
  return &slabs_.back();
}

}  // namespace iocomp::client
