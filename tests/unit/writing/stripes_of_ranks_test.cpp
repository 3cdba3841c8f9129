// SPDX-License-Identifier: BSD-3-Clause
// Ranks of one or two nodes put short runs into one file, and nobody puts some elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/byte_order.h"
#include "array/run_list.h"
#include "base/error.h"
#include "base/path.h"
#include "disk/engine.h"
#include "formats/open_together.h"
#include "trace/counters.h"
#include "transport/shared_memory/node_stripes.h"
#include "unit/seed.h"
#include "unit/temporary_folder.h"
#include "unit/transport/sharing_ranks.h"
#include "unit/writing/pieces.h"
#include "writing/file_writer.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::writing {
namespace {

constexpr std::int64_t stripe_bytes = 8 << 10;

/// A rank that writes a file of one variable, and a disk that writes at once.
class Rank {
 public:
  Rank(transport::NodeStripes& memory, const Path& path, bool swaps_bytes)
      : stripes{memory,
                {.file = 1,
                 .bytes = stripe_bytes,
                 .run_bytes = Stripes::long_run_bytes(stripe_bytes),
                 .swaps_bytes = swaps_bytes}},
        writer_{{.path = path,
                 .opening = formats::Opening::shares,
                 .swaps_bytes = swaps_bytes,
                 .submit =
                     [this](const disk::Plan& plan, const auto& done) {
                       writes += std::ssize(plan.writes);
                       done(disk::carry_out(plan));
                     },
                 .counters = &counters_,
                 .stripes = &stripes}} {}

  void put(const contents::Variable& of, const array::RunList& runs) {
    const CountedPiece& made = add(of, runs);
    stripes.choose(*made.piece, 0, array::elements(of.shape));
    auto& values = values_.emplace_back(values_of(*made.piece, 0, runs.elements()));
    writer_.write(chunk_of(made, 0, values));
    writer_.submit();
  }
  /// @param value  0: blanks.
  void fill(const contents::Variable& of, const array::RunList& holes, std::int64_t value) {
    const CountedPiece& made = add(of, holes);
    stripes.choose_fill(*made.piece, 0, array::elements(of.shape));
    made.piece->is_blank = value == 0;
    const auto bytes = std::as_bytes(std::span{&value, 1});
    (void)writer_.fill(made.piece, value == 0 ? std::span<const std::byte>{} : bytes);
  }
  void hear() {
    (void)stripes.hear_of_others();
    write(stripes.take_withdrawn());
  }
  void withdraw_one() {
    if (stripes.has_open()) {
      write(stripes.withdraw_oldest());
    }
  }
  void end() {
    hear();
    write(stripes.withdraw_step(0));
    hear();
  }
  [[nodiscard]] bool has_ended() const {
    return std::ranges::all_of(pieces_, [](const CountedPiece& one) {
      return *one.ended == 1 && one.piece->failure.ok() && one.piece->elements_with_others == 0;
    });
  }

  Stripes stripes;
  std::int64_t writes = 0;

 private:
  const CountedPiece& add(const contents::Variable& of, const array::RunList& runs) {
    return pieces_.emplace_back(of, std::make_shared<const array::RunList>(runs), 0);
  }
  void write(std::vector<Stripe> due) {
    for (auto& stripe : due) {
      writer_.write(std::move(stripe));
    }
  }

  trace::Counters counters_;
  std::deque<std::vector<std::int64_t>> values_;
  std::deque<CountedPiece> pieces_;
  FileWriter writer_;
};

/// The same file, written by ranks of several nodes.
class RanksOfNodes : public testing::Test {
 protected:
  void make(const std::vector<std::size_t>& ranks_of_nodes, bool swaps = false,
            std::size_t rank_bytes = std::size_t{48} << 10) {
    ranks.clear();
    nodes.clear();
    swaps_ = swaps;
    write_text(path_, "");
    for (const std::size_t count : ranks_of_nodes) {
      nodes.push_back(std::make_unique<transport::SharingRanks>(count, stripe_bytes, rank_bytes));
      for (std::size_t self = 0; self < count; ++self) {
        ranks.push_back(std::make_unique<Rank>((*nodes.back())[self], Path{path_}, swaps));
      }
    }
  }
  void end_all() {
    for (int time = 0; time < 2; ++time) {  // the second time all have heard of all
      for (auto& rank : ranks) {
        rank->end();
      }
    }
  }
  [[nodiscard]] bool have_all_ended() const {
    return std::ranges::all_of(ranks, [](const auto& rank) { return rank->has_ended(); });
  }
  [[nodiscard]] std::int64_t writes() const {
    std::int64_t all = 0;
    for (const auto& rank : ranks) {
      all += rank->writes;
    }
    return all;
  }
  [[nodiscard]] std::vector<std::int64_t> numbers(std::int64_t count) const {
    std::string text = text_of(path_);
    text.resize(static_cast<std::size_t>(count) * sizeof(std::int64_t));
    if (swaps_) {
      array::swap_bytes(std::as_writable_bytes(std::span{text}), sizeof(std::int64_t));
    }
    std::vector<std::int64_t> found(static_cast<std::size_t>(count));
    std::ranges::copy(std::as_bytes(std::span{text}),
                      std::as_writable_bytes(std::span{found}).begin());
    return found;
  }

  // The ranks go first.
  std::vector<std::unique_ptr<transport::SharingRanks>> nodes;
  std::vector<std::unique_ptr<Rank>> ranks;

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
  bool swaps_ = false;
};

// Elements that have this remainder, of a variable of 64 elements.
array::RunList every(std::int64_t one_of, const std::vector<std::int64_t>& remainders) {
  array::RunList runs;
  for (std::int64_t index = 0; index < 64; ++index) {
    if (std::ranges::count(remainders, index % one_of) > 0) {
      runs.append({index, 1});
    }
  }
  return runs;
}

std::vector<std::int64_t> expected(const array::RunList& put, std::int64_t fill = 0) {
  std::vector<std::int64_t> all(64, fill);
  for (std::size_t run = 0; run < put.size(); ++run) {
    for (std::int64_t i = 0; i < put.run(run).elements; ++i) {
      const std::int64_t index = put.run(run).index + i;
      all[static_cast<std::size_t>(index)] = index + 1;
    }
  }
  return all;
}

TEST_F(RanksOfNodes, AStripeWithHolesIsOneWriteOfTheRankThatFillsThem) {
  const auto of = int64_variable({64});
  for (const std::int64_t fill : {0, 9}) {
    make({3}, fill == 9);
    ranks[0]->put(of, every(5, {0, 3}));
    ranks[1]->put(of, every(5, {1}));
    ranks[2]->fill(of, every(5, {2, 4}), fill);  // has put nothing itself
    EXPECT_EQ(writes(), 1);
    EXPECT_EQ(ranks[2]->writes, 1);
    end_all();
    EXPECT_EQ(writes(), 1);
    EXPECT_TRUE(have_all_ended());
    EXPECT_EQ(numbers(64), expected(every(5, {0, 1, 3}), fill));
  }
}

TEST_F(RanksOfNodes, HolesThatSeveralFillMakeAStripeFullTogether) {
  const auto of = int64_variable({64});
  make({2});
  ranks[0]->put(of, every(4, {0}));
  ranks[1]->put(of, every(4, {1}));
  ranks[0]->fill(of, every(4, {2}), 0);
  EXPECT_EQ(writes(), 0);
  ranks[1]->fill(of, every(4, {3}), 0);
  EXPECT_EQ(writes(), 1);
  end_all();
  EXPECT_TRUE(have_all_ended());
  EXPECT_EQ(numbers(64), expected(every(4, {0, 1})));
}

TEST_F(RanksOfNodes, AStripeThatAnotherNodeHasAPartOfIsWrittenInParts) {
  const auto of = int64_variable({64});
  for (const std::int64_t fill : {0, 9}) {
    make({2, 1});
    ranks[0]->put(of, every(5, {0}));
    ranks[1]->put(of, every(5, {1}));
    ranks[2]->put(of, every(5, {2}));
    ranks[2]->end();  // before the others
    ranks[0]->fill(of, every(5, {3}), fill);
    ranks[1]->fill(of, every(5, {4}), fill);
    EXPECT_EQ(ranks[0]->writes + ranks[1]->writes, 0);
    end_all();
    EXPECT_TRUE(have_all_ended());
    EXPECT_EQ(numbers(64), expected(every(5, {0, 1, 2}), fill));
  }
}

TEST_F(RanksOfNodes, WhatWasWithdrawnBeforeALateRankPutIsNotWrittenOver) {
  const auto of = int64_variable({64});
  make({2});
  ranks[0]->put(of, every(3, {0}));
  ranks[0]->withdraw_one();
  const std::int64_t before = writes();
  EXPECT_GT(before, 1);
  ranks[1]->put(of, every(3, {1}));
  ranks[1]->fill(of, every(3, {2}), 0);
  EXPECT_EQ(writes(), before);
  end_all();
  EXPECT_TRUE(have_all_ended());
  EXPECT_EQ(numbers(64), expected(every(3, {0, 1})));
}

TEST_F(RanksOfNodes, WhatARankHasPutBeforeItDiedIsWrittenWithTheRest) {
  const auto of = int64_variable({64});
  make({2});
  ranks[0]->put(of, every(3, {0}));
  ranks[1]->put(of, every(3, {1}));
  ranks[1]->fill(of, every(3, {2}), 0);  // and nothing is heard of rank 0 any more
  EXPECT_EQ(ranks[1]->writes, 1);
  EXPECT_TRUE(ranks[1]->has_ended());
  EXPECT_EQ(numbers(64), expected(every(3, {0, 1})));
}

TEST_F(RanksOfNodes, ZerosAreWrittenNowhereElseAndFillValuesAre) {
  const auto of = int64_variable({64});
  for (const std::int64_t fill : {0, 9}) {
    make({1});
    ranks[0]->fill(of, every(2, {1}), fill);
    EXPECT_FALSE(ranks[0]->stripes.has_open());
    EXPECT_EQ(writes(), fill == 0 ? 0 : 32);
    end_all();
    EXPECT_TRUE(have_all_ended());
  }
}

// The elements of each rank, and at the end those of nobody.
std::vector<array::RunList> dealt(std::mt19937& generator, std::int64_t elements,
                                  std::size_t ranks) {
  std::vector<array::RunList> all(ranks + 1);
  const std::int64_t most = draw(generator, 1, 6);
  const std::int64_t sea = draw(generator, 0, 3);
  for (std::int64_t index = 0; index < elements;) {
    const std::int64_t count = std::min(draw(generator, 1, most), elements - index);
    const bool is_put = draw(generator, 0, 3) >= sea;
    const std::int64_t owner =
        is_put ? draw(generator, 0, static_cast<std::int64_t>(ranks) - 1) : std::ssize(all) - 1;
    all[static_cast<std::size_t>(owner)].append({index, count});
    index += count;
  }
  return all;
}

TEST_F(RanksOfNodes, TheFileIsTheSameWhateverTheHolesTheMemoryAndTheOrder) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 generator{seed};
  std::int64_t fewer = 0;
  for (int round = 0; round < 150; ++round) {
    std::vector<std::size_t> counts;
    std::size_t all = 0;
    for (std::int64_t node = draw(generator, 1, 2); node > 0; --node) {
      counts.push_back(static_cast<std::size_t>(draw(generator, 1, 3)));
      all += counts.back();
    }
    const bool is_hasty = draw(generator, 0, 2) == 0;
    make(counts, draw(generator, 0, 1) == 0,
         static_cast<std::size_t>(draw(generator, 6, 12)) << 12U);
    const std::int64_t elements = draw(generator, 1, 5000);
    const auto of = int64_variable({elements});
    const auto parts = dealt(generator, elements, all);
    const std::int64_t fill = draw(generator, 0, 1) * 77;
    std::vector<std::size_t> order(all);
    for (std::size_t rank = 0; rank < all; ++rank) {
      order[rank] = rank;
    }
    std::ranges::shuffle(order, generator);
    const auto perhaps_withdraw = [&] {
      Rank& rank = *ranks[static_cast<std::size_t>(draw(generator, 0, std::ssize(ranks) - 1))];
      if (is_hasty && draw(generator, 0, 2) == 0) {
        rank.withdraw_one();
      }
      rank.hear();
    };
    for (const std::size_t rank : order) {
      if (parts[rank].size() > 0) {
        ranks[rank]->put(of, parts[rank]);
      }
      perhaps_withdraw();
    }
    std::int64_t first = 0;
    while (first < parts.back().elements()) {
      const std::int64_t count = draw(generator, 1, parts.back().elements() - first);
      ranks[order[static_cast<std::size_t>(first) % all]]->fill(of, parts.back().part(first, count),
                                                                fill);
      first += count;
      perhaps_withdraw();
    }
    end_all();
    ASSERT_TRUE(have_all_ended()) << "round " << round;
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(elements), fill);
    std::int64_t runs = 0;
    for (std::size_t rank = 0; rank < all; ++rank) {
      runs += static_cast<std::int64_t>(parts[rank].size());
      for (std::size_t run = 0; run < parts[rank].size(); ++run) {
        for (std::int64_t i = 0; i < parts[rank].run(run).elements; ++i) {
          const std::int64_t index = parts[rank].run(run).index + i;
          wanted[static_cast<std::size_t>(index)] = index + 1;
        }
      }
    }
    ASSERT_EQ(numbers(elements), wanted) << "round " << round;
    fewer += runs - writes();
  }
  EXPECT_GT(fewer, 0);
}

}  // namespace
}  // namespace iocomp::writing
