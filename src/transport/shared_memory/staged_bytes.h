#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/shared_memory/shared_mapping.h"
#include "transport/transport.h"

namespace iocomp::transport {

/// A server's staging memory where the ranks of its node can read it, and a table of what lies in
/// it: so that they can write it themselves should the server end. The server fills a slot before
/// it tells the sender that the bytes are taken, and frees it when they are written.
class StagedBytes {
 public:
  StagedBytes() = default;
  /// Make it, in a server: pages come when they are touched.
  /// @throws Error{out_of_staging_memory}.
  static StagedBytes create(std::size_t bytes);
  /// See it, in another process. @throws Error{unsupported}.
  static StagedBytes open(const std::string& path, std::size_t bytes);

  [[nodiscard]] bool is_there() const noexcept { return !mapping_.bytes().empty(); }
  [[nodiscard]] int descriptor() const noexcept { return mapping_.descriptor(); }
  [[nodiscard]] std::span<std::byte> memory() const noexcept;

  // The server:
  /// Whether there are slots for all that may be under way at once.
  [[nodiscard]] bool has_room() const noexcept { return free_.size() > spare_slots; }
  /// @return a slot; nothing for bytes that do not lie here.
  std::optional<std::size_t> fill(std::size_t sender, PostId post, std::uint64_t offset,
                                  std::span<const std::byte> bytes);
  void free(std::size_t slot);

  // Others:
  [[nodiscard]] std::vector<Transport::Staged> find(std::size_t sender, PostId post) const;

 private:
  struct Slot {
    alignas(64) std::atomic<std::uint32_t> is_filled;
    std::uint32_t sender;  // its number on the node
    std::uint64_t post;
    std::uint64_t offset;  // in the post
    std::uint64_t bytes;
    std::uint64_t place;  // in memory()
  };
  static constexpr std::size_t slots = 8192;
  static constexpr std::size_t spare_slots = 1024;
  [[nodiscard]] Slot& slot(std::size_t number) const noexcept;

  SharedMapping mapping_;
  std::vector<std::size_t> free_;
};

}  // namespace iocomp::transport
