// SPDX-License-Identifier: BSD-3-Clause
#include "steps/council.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/wire.h"
#include "steps/tree.h"

namespace iocomp::steps {
namespace {

using Message = Council::Message;

Message message(int value) { return Message(3, static_cast<std::byte>(value)); }

/// The councils of all writers; what one sends another has at once.
class Writers : public testing::TestWithParam<int> {
 protected:
  static constexpr int size = 40;

  class One : public Council {
   public:
    One(Writers& all, int number) : Council{Tree{size, Writers::GetParam(), number}}, all_{all} {}

    std::vector<Message> orders;
    std::size_t sent = 0;
    std::size_t most_bytes = 0;

   private:
    void send_down(int writer, std::span<const std::byte> bundle) override {
      ++sent;
      most_bytes = std::max(most_bytes, bundle.size());
      all_.one(writer).pass_down(bundle);
    }
    void take_order(Message order) override { orders.push_back(std::move(order)); }

    Writers& all_;
  };

  Writers() {
    for (int number = 0; number < size; ++number) {
      all_.push_back(std::make_unique<One>(*this, number));
    }
  }
  One& one(int number) { return *all_.at(static_cast<std::size_t>(number)); }
  One& lead() { return one(0); }

 private:
  std::vector<std::unique_ptr<One>> all_;
};

TEST_P(Writers, GetWhatIsForAllOrForEachInItsOrder) {
  lead().to_all(message(1));
  std::vector<Message> each;
  for (int number = 0; number < size; ++number) {
    each.push_back(message(10 + number / 3));
  }
  lead().to_each(each);
  lead().to_all(message(2));
  for (int number = 0; number < size; ++number) {
    const std::vector<Message> expected{message(1), message(10 + number / 3), message(2)};
    EXPECT_EQ(one(number).orders, expected) << "writer " << number;
    EXPECT_EQ(one(number).sent, 3 * one(number).tree().below().size());
  }
}

TEST_P(Writers, ManyWithTheSameOrderCostAsMuchAsOne) {
  lead().to_each(std::vector<Message>(size, message(1)));
  EXPECT_LE(lead().most_bytes, 32U);
}

TEST_P(Writers, GetManyOrdersInOneBundle) {
  const std::vector<Message> orders{message(1), message(2), message(3)};
  lead().to_all(orders);
  for (int number = 0; number < size; ++number) {
    EXPECT_EQ(one(number).orders, orders) << "writer " << number;
    EXPECT_EQ(one(number).sent, one(number).tree().below().size());
  }
}

TEST_P(Writers, RefuseWhatIsForOthers) {
  WireWriter bundle;
  bundle.put(std::int32_t{0});
  bundle.put(std::int32_t{1});
  bundle.put_bytes(message(1));
  EXPECT_THROW(one(1).pass_down(bundle.bytes()), Error);
  EXPECT_THROW(one(1).pass_down(bundle.bytes().first(7)), Error);
  EXPECT_TRUE(one(1).orders.empty());
}

INSTANTIATE_TEST_SUITE_P(Council, Writers, testing::Values(1, 3, 8, 64));

}  // namespace
}  // namespace iocomp::steps
