// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/exported_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/free_ranges.h"
#include "base/log.h"
#include "transport/shared_memory/records.h"
#include "transport/shared_memory/shared_mapping.h"
#include "transport/transport.h"

namespace iocomp::transport {
namespace {

// Each region needs a file descriptor while it lives. A process has 1024, unless told otherwise.
constexpr std::size_t most_regions = 256;

}  // namespace

std::span<std::byte> ExportedMemory::add(std::size_t bytes, bool staged) {
  const std::size_t whole = whole_pages(std::max<std::size_t>(bytes, 1));
  if (regions_.size() == most_regions) {
    throw Error{ErrorCode::out_of_staging_memory,
                std::to_string(most_regions) + " pieces of memory are shared already"};
  }
  Region region;
  region.mapping = SharedMapping::create(SharedMapping::Kind::memfd,
                                         staged ? "iocomp-staged" : "iocomp-alloc", whole);
  region.name = {.id = next_++,
                 .descriptor = region.mapping.descriptor(),
                 .staged = staged ? 1U : 0U,
                 .bytes = whole};
  const auto memory = region.mapping.bytes();
  regions_.emplace(memory.data(), std::move(region));
  return memory.first(bytes);
}

std::uint64_t ExportedMemory::remove(const std::byte* first) {
  const auto node = regions_.extract(first);
  return node.empty() ? 0 : node.mapped().name.id;
}

std::optional<ExportedMemory::Place> ExportedMemory::find(std::span<const std::byte> bytes) const {
  auto after = regions_.upper_bound(bytes.data());
  if (after == regions_.begin()) {
    return std::nullopt;
  }
  const auto& [first, region] = *std::prev(after);
  const auto offset = static_cast<std::size_t>(bytes.data() - first);
  const std::size_t size = region.mapping.bytes().size();
  if (offset > size || bytes.size() > size - offset) {
    return std::nullopt;
  }
  return Place{region.name, offset};
}

ImportedMemory::View ImportedMemory::view(int process, const RegionName& region,
                                          std::uint64_t offset, std::size_t bytes) {
  auto found = mapped_.find(region.id);
  if (found == mapped_.end()) {
    const std::string path =
        "/proc/" + std::to_string(process) + "/fd/" + std::to_string(region.descriptor);
    SharedMapping mapping;
    const Outcome mapped =
        outcome_of([&] { mapping = SharedMapping::open(path, region.bytes, false); });
    if (!mapped.ok()) {
      log::info(mapped.story + "; its bytes are copied instead");
    }
    found = mapped_.emplace(region.id, std::make_shared<SharedMapping>(std::move(mapping))).first;
  }
  const std::span<const std::byte> all = found->second->bytes();
  if (offset + bytes > all.size()) {
    return {};
  }
  return {all.subspan(offset, bytes), found->second};
}

}  // namespace iocomp::transport
