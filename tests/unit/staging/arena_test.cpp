// SPDX-License-Identifier: BSD-3-Clause
#include "staging/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "unit/seed.h"

namespace iocomp::staging {
namespace {

constexpr std::size_t page = Arena::page_bytes;

TEST(Arena, RoundsItsCapacityUpToPages) {
  EXPECT_EQ(Arena{1}.capacity_bytes(), page);
  EXPECT_EQ(Arena{page}.capacity_bytes(), page);
  EXPECT_EQ(Arena{0}.capacity_bytes(), 0U);
}

TEST(Arena, LeasesWhatWasAskedForFromWholePages) {
  Arena arena{4 * page};
  const auto lease = arena.try_take(page + 1);
  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->bytes().size(), page + 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lease->bytes().data()) % page, 0U);
  EXPECT_EQ(arena.used_bytes(), 2 * page);
}

TEST(Arena, GivesNothingForWhatDoesNotFitNow) {
  Arena arena{4 * page};
  const auto held = arena.try_take(3 * page);
  EXPECT_FALSE(arena.try_take(page + 1).has_value());
  EXPECT_TRUE(arena.try_take(page).has_value());
}

TEST(Arena, RefusesWhatCanNeverFit) {
  Arena arena{page};
  try {
    (void)arena.try_take(page + 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_staging_memory);
    EXPECT_EQ(std::string{error.what()},
              "asked for 4097 bytes of staging memory, capacity is 4096");
  }
  EXPECT_THROW((void)arena.try_take(SIZE_MAX), Error);
}

TEST(Arena, SaysWhenTheSystemRefusesTheAddresses) {
  for (const std::size_t bytes : {std::size_t{1} << 60, SIZE_MAX}) {
    try {
      const Arena arena{bytes};
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_staging_memory);
      EXPECT_NE(std::string{error.what()}.find(std::to_string(bytes)), std::string::npos);
    }
  }
}

TEST(Arena, LeasesNoBytesAtNoCost) {
  Arena arena{page};
  const auto all = arena.try_take(page);
  const auto nothing = arena.try_take(0);
  ASSERT_TRUE(nothing.has_value());
  EXPECT_TRUE(nothing->bytes().empty());
  EXPECT_EQ(arena.used_bytes(), page);
}

TEST(Arena, ReusesTheLowestAddressFirst) {
  Arena arena{8 * page};
  auto first = arena.try_take(page);
  const auto second = arena.try_take(page);
  const auto third = arena.try_take(page);
  const std::byte* const lowest = first->bytes().data();
  EXPECT_EQ(second->bytes().data(), lowest + page);
  EXPECT_EQ(third->bytes().data(), lowest + 2 * page);
  first.reset();
  EXPECT_EQ(arena.try_take(page)->bytes().data(), lowest);
  EXPECT_EQ(arena.try_take(2 * page)->bytes().data(), lowest + 3 * page);
}

TEST(Arena, RemembersTheMostThatWasLeasedAtOnce) {
  Arena arena{8 * page};
  {
    const auto first = arena.try_take(3 * page);
    const auto second = arena.try_take(2 * page);
  }
  const auto third = arena.try_take(page);
  EXPECT_EQ(arena.used_bytes(), page);
  EXPECT_EQ(arena.peak_bytes(), 5 * page);
}

TEST(Arena, ReservesWithoutTouching) {
  constexpr std::size_t capacity = std::size_t{1} << 28;
  Arena arena{capacity};
  const auto all = arena.try_take(capacity);
  std::vector<unsigned char> present(capacity / page);
  ASSERT_EQ(mincore(all->bytes().data(), capacity, present.data()), 0);
  EXPECT_EQ(std::ranges::count(present, 0), std::ssize(present));
}

TEST(Arena, TouchMakesPagesPresentAndKeepsTheirContent) {
  Arena arena{16 * page};
  const auto all = arena.try_take(16 * page);
  std::memset(all->bytes().data(), 7, 16 * page);
  arena.touch(0, 16 * page);
  EXPECT_EQ(std::ranges::count(all->bytes(), std::byte{7}), 16 * static_cast<std::ptrdiff_t>(page));
}

TEST(Arena, TouchesNoMoreThanItHas) {
  Arena arena{4 * page};
  arena.touch(0, 1);
  arena.touch(page + 1, 100 * page);
  arena.touch(100 * page, page);
  const auto all = arena.try_take(4 * page);
  std::vector<unsigned char> present(4);
  ASSERT_EQ(mincore(all->bytes().data(), 4 * page, present.data()), 0);
  for (const unsigned char flags : present) {
    EXPECT_EQ(flags & 1U, 1U);
  }
  Arena{0}.touch(0, page);
}

TEST(Lease, AssigningOverALeaseReturnsItsBytesAtOnce) {
  Arena arena{8 * page};
  auto first = arena.try_take(6 * page);
  auto second = arena.try_take(2 * page);
  *first = std::move(*second);
  EXPECT_EQ(arena.used_bytes(), 2 * page);
  EXPECT_TRUE(arena.try_take(6 * page).has_value());
}

TEST(Lease, MovesWithoutReturningItsBytes) {
  Arena arena{2 * page};
  auto first = arena.try_take(page);
  const Lease moved{std::move(*first)};
  first.reset();
  EXPECT_EQ(arena.used_bytes(), page);
  EXPECT_EQ(moved.bytes().size(), page);
}

// The expected state of the arena, page by page.
class PageMap {
 public:
  explicit PageMap(std::size_t pages) : used_(pages, false) {}

  std::optional<std::size_t> take(std::size_t pages) {
    for (std::size_t first = 0; first + pages <= used_.size(); ++first) {
      const auto begin = used_.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(pages);
      if (std::find(begin, end, true) == end) {
        std::fill(begin, end, true);
        return first;
      }
    }
    return std::nullopt;
  }
  void give_back(std::size_t first, std::size_t pages) {
    std::fill_n(used_.begin() + static_cast<std::ptrdiff_t>(first), pages, false);
  }
  [[nodiscard]] std::size_t used() const {
    return static_cast<std::size_t>(std::ranges::count(used_, true));
  }

 private:
  std::vector<bool> used_;
};

TEST(Arena, AgreesWithAMapOfItsPages) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  constexpr std::size_t pages = 64;
  Arena arena{pages * page};
  const std::byte* const base = arena.try_take(page)->bytes().data();
  PageMap reference{pages};
  struct Held {
    Lease lease;
    std::size_t first;
    std::size_t pages;
  };
  std::vector<Held> held;
  for (int i = 0; i < 20'000; ++i) {
    if (draw(generator, 0, 1) == 0 || held.empty()) {
      const auto bytes = static_cast<std::size_t>(draw(generator, 1, 12 * page));
      const std::size_t wanted = (bytes + page - 1) / page;
      auto lease = arena.try_take(bytes);
      const auto expected = reference.take(wanted);
      ASSERT_EQ(lease.has_value(), expected.has_value());
      if (lease) {
        ASSERT_EQ(lease->bytes().data(), base + *expected * page);
        held.push_back({.lease = std::move(*lease), .first = *expected, .pages = wanted});
      }
    } else {
      const auto victim = static_cast<std::size_t>(draw(generator, 0, std::ssize(held) - 1));
      reference.give_back(held[victim].first, held[victim].pages);
      std::swap(held[victim], held.back());
      held.pop_back();
    }
    ASSERT_EQ(arena.used_bytes(), reference.used() * page);
  }
}

TEST(Arena, GivesNoByteToTwoThreads) {
  constexpr std::size_t capacity = 32 * page;
  Arena arena{capacity};
  std::vector<std::jthread> threads;
  for (unsigned char id = 1; id <= 4; ++id) {
    threads.emplace_back([&arena, id] {
      std::mt19937_64 generator{id};
      for (int i = 0; i < 300; ++i) {
        const auto lease = arena.try_take(static_cast<std::size_t>(draw(generator, 1, 10 * page)));
        if (lease) {
          std::ranges::fill(lease->bytes(), std::byte{id});
          EXPECT_EQ(std::ranges::count(lease->bytes(), std::byte{id}), std::ssize(lease->bytes()));
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(arena.used_bytes(), 0U);
  EXPECT_LE(arena.peak_bytes(), capacity);
  EXPECT_TRUE(arena.try_take(capacity).has_value()) << "holes were not joined";
}

}  // namespace
}  // namespace iocomp::staging
