// SPDX-License-Identifier: BSD-3-Clause
#include "file_bytes.h"

#include <algorithm>

namespace simulation {
namespace {

constexpr std::array<std::byte, FileBytes::page_bytes> zeros{};

// Cut a range of bytes at the borders of pages.
template <typename Body>
void for_each_part(std::int64_t offset, std::size_t count, Body&& body) {
  for (std::size_t at = 0; at < count;) {
    const std::int64_t place = offset + static_cast<std::int64_t>(at);
    const std::int64_t in_page = place % FileBytes::page_bytes;
    const auto length =
        std::min(count - at, static_cast<std::size_t>(FileBytes::page_bytes - in_page));
    body(place / FileBytes::page_bytes, static_cast<std::size_t>(in_page), at, length);
    at += length;
  }
}

}  // namespace

const std::shared_ptr<FileBytes::Pages>& FileBytes::nothing() {
  static const auto empty = std::make_shared<Pages>();
  return empty;
}

FileBytes::Pages& FileBytes::edit() {
  if (pages_.use_count() > 1) {
    pages_ = std::make_shared<Pages>(*pages_);
  }
  return *pages_;
}

FileBytes::Page& FileBytes::page_of(Pages& pages, std::int64_t number) {
  auto page = pages.all.end();
  if (!pages.all.empty() && pages.all.back().first >= number) {
    page =
        std::ranges::lower_bound(pages.all, number, {}, [](const auto& one) { return one.first; });
  }
  if (page == pages.all.end() || page->first != number) {
    page = pages.all.insert(page, {number, std::make_shared<Page>()});
  } else if (page->second.use_count() > 1) {
    page->second = std::make_shared<Page>(*page->second);
  }
  return *page->second;
}

const FileBytes::Page* FileBytes::find(const Pages& pages, std::int64_t number) {
  const auto page =
      std::ranges::lower_bound(pages.all, number, {}, [](const auto& one) { return one.first; });
  return page == pages.all.end() || page->first != number ? nullptr : page->second.get();
}

std::size_t FileBytes::read(std::int64_t offset, std::span<std::byte> to) const {
  const std::int64_t left = std::max<std::int64_t>(0, size() - offset);
  const std::size_t count = std::min(to.size(), static_cast<std::size_t>(left));
  for_each_part(offset, count,
                [&](std::int64_t number, std::size_t from, std::size_t at, std::size_t length) {
                  const Page* const page = find(*pages_, number);
                  std::copy_n((page == nullptr ? zeros : *page).begin() + from, length,
                              to.begin() + static_cast<std::ptrdiff_t>(at));
                });
  return count;
}

void FileBytes::write(std::int64_t offset, std::span<const std::byte> bytes) {
  Pages& pages = edit();
  for_each_part(offset, bytes.size(),
                [&](std::int64_t number, std::size_t to, std::size_t at, std::size_t length) {
                  std::ranges::copy(bytes.subspan(at, length), page_of(pages, number).begin() + to);
                });
  pages.size = std::max(pages.size, offset + std::ssize(bytes));
}

void FileBytes::resize(std::int64_t bytes) {
  Pages& pages = edit();
  if (bytes < pages.size) {
    const std::int64_t whole = (bytes + page_bytes - 1) / page_bytes;
    while (!pages.all.empty() && pages.all.back().first >= whole) {
      pages.all.pop_back();
    }
    const std::int64_t rest = bytes % page_bytes;
    if (rest > 0 && !pages.all.empty() && pages.all.back().first == bytes / page_bytes) {
      auto& page = page_of(pages, bytes / page_bytes);
      std::fill(page.begin() + rest, page.end(), std::byte{0});
    }
  }
  pages.size = bytes;
}

void FileBytes::for_each_page(
    const std::function<void(std::int64_t, std::span<const std::byte>)>& body) const {
  for (const auto& [number, page] : pages_->all) {
    const std::int64_t offset = number * page_bytes;
    body(offset,
         std::span{*page}.first(static_cast<std::size_t>(std::min(page_bytes, size() - offset))));
  }
}

bool FileBytes::operator==(const FileBytes& other) const {
  if (pages_ == other.pages_) {
    return true;
  }
  if (size() != other.size()) {
    return false;
  }
  const auto is_within = [](const Pages& one, const Pages& all) {
    return std::ranges::all_of(one.all, [&](const auto& here) {
      const Page* const there = find(all, here.first);
      return here.second.get() == there || *here.second == (there == nullptr ? zeros : *there);
    });
  };
  return is_within(*pages_, *other.pages_) && is_within(*other.pages_, *pages_);
}

std::int64_t FileBytes::mismatch(const FileBytes& other) const {
  const std::int64_t common = std::min(size(), other.size());
  std::int64_t first = common;
  const auto compare = [&first](const FileBytes& one, const FileBytes& two) {
    one.for_each_page([&](std::int64_t offset, std::span<const std::byte> page) {
      Page there{};
      (void)two.read(offset, there);
      const auto differs = std::ranges::mismatch(page, there).in1 - page.begin();
      first = differs < std::ssize(page) ? std::min(first, offset + differs) : first;
    });
  };
  compare(*this, other);
  compare(other, *this);
  return first;
}

}  // namespace simulation
