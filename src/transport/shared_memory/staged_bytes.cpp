#include "transport/shared_memory/staged_bytes.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;  // the memory begins at such a border

}  // namespace

StagedBytes StagedBytes::create(std::size_t bytes) {
  static_assert(slots * sizeof(Slot) <= huge_page_bytes);
  StagedBytes made;
  made.mapping_ =
      SharedMapping::create(SharedMapping::Kind::memfd, "iocomp-staging", huge_page_bytes + bytes,
                            SharedMapping::Pages::when_touched);
  for (std::size_t number = slots; number-- > 0;) {
    made.free_.push_back(number);
  }
  return made;
}

StagedBytes StagedBytes::open(const std::string& path, std::size_t bytes) {
  StagedBytes seen;
  seen.mapping_ = SharedMapping::open(path, huge_page_bytes + bytes, false);
  return seen;
}

std::span<std::byte> StagedBytes::memory() const noexcept {
  return is_there() ? mapping_.bytes().subspan(huge_page_bytes) : std::span<std::byte>{};
}

StagedBytes::Slot& StagedBytes::slot(std::size_t number) const noexcept {
  return reinterpret_cast<Slot*>(mapping_.bytes().data())[number];
}

std::optional<std::size_t> StagedBytes::fill(std::size_t sender, PostId post, std::uint64_t offset,
                                             std::span<const std::byte> bytes) {
  const auto here = memory();
  if (bytes.data() < here.data() || bytes.data() >= here.data() + here.size() || free_.empty()) {
    return std::nullopt;
  }
  const std::size_t number = free_.back();
  free_.pop_back();
  Slot& filled = slot(number);
  filled.sender = static_cast<std::uint32_t>(sender);
  filled.post = post;
  filled.offset = offset;
  filled.bytes = bytes.size();
  filled.place = static_cast<std::uint64_t>(bytes.data() - here.data());
  filled.is_filled.store(1, std::memory_order_release);
  return number;
}

void StagedBytes::free(std::size_t number) {
  slot(number).is_filled.store(0, std::memory_order_release);
  free_.push_back(number);
}

std::vector<Transport::Staged> StagedBytes::find(std::size_t sender, PostId post) const {
  std::vector<Transport::Staged> found;
  for (std::size_t number = 0; is_there() && number < slots; ++number) {
    const Slot& one = slot(number);
    if (one.is_filled.load(std::memory_order_acquire) != 0 && one.sender == sender &&
        one.post == post) {
      found.push_back({one.offset, memory().subspan(one.place, one.bytes)});
    }
  }
  return found;
}

}  // namespace iocomp::transport
