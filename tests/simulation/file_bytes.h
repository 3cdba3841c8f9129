// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace simulation {

/// The bytes of a simulated file. Copies share their pages until one of them changes, and pages
/// that nobody has written take no memory: they hold zeros.
class FileBytes {
 public:
  static constexpr std::int64_t page_bytes = 4096;

  [[nodiscard]] std::int64_t size() const noexcept { return pages_->size; }
  /// Reads the bytes that begin at this offset, as far as there are any.
  /// @return how many bytes.
  std::size_t read(std::int64_t offset, std::span<std::byte> to) const;
  /// The file becomes longer where they reach beyond its end.
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  /// New bytes are zeros.
  void resize(std::int64_t bytes);
  /// Every page that may hold something else than zeros, in ascending order.
  void for_each_page(
      const std::function<void(std::int64_t offset, std::span<const std::byte>)>& body) const;
  [[nodiscard]] bool operator==(const FileBytes& other) const;
  /// The first offset at which they differ, or where the shorter one ends.
  [[nodiscard]] std::int64_t mismatch(const FileBytes& other) const;

 private:
  using Page = std::array<std::byte, page_bytes>;
  struct Pages {
    std::int64_t size = 0;
    std::vector<std::pair<std::int64_t, std::shared_ptr<Page>>> all;  // by number
  };
  [[nodiscard]] static const std::shared_ptr<Pages>& nothing();
  [[nodiscard]] Pages& edit();
  [[nodiscard]] static Page& page_of(Pages& pages, std::int64_t number);
  [[nodiscard]] static const Page* find(const Pages& pages, std::int64_t number);

  std::shared_ptr<Pages> pages_ = nothing();
};

}  // namespace simulation
