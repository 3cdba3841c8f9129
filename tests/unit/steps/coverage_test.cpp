// SPDX-License-Identifier: BSD-3-Clause
#include "steps/coverage.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/run_list.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/rules.h"
#include "contents/variable.h"
#include "steps/ended.h"
#include "steps/put_log.h"

namespace iocomp::steps {
namespace {

class CoverageOfTen : public testing::Test {
 protected:
  CoverageOfTen() {
    contents::Event event;
    event.what = contents::Event::What::define;
    event.name = "u";
    event.type = array::ElementType::uint8;
    event.shape = shape_;
    catalogue_.apply(event);
  }

  void set_fill() {
    contents::Event event;
    event.what = contents::Event::What::attribute;
    event.variable = 0;
    event.name = contents::fill_attribute;
    event.attribute.values = {std::byte{9}};
    catalogue_.apply(event);
  }

  // Rank after rank: first element, how many.
  using Puts = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Coverage::Look look(const Puts& puts) {
    covers_ = {};
    records_.clear();
    for (const auto& [first, count] : puts) {
      const array::Box box{1, {first}, {count}};
      covers_.add(0, array::cover_of(shape_, box));
      records_.push_back({0, static_cast<std::int32_t>(records_.size()), {box, 0, count}});
    }
    return coverage_.look(0, covers_);
  }
  Outcome learn(const Coverage::Look& look, Coverage::Unput& unput) {
    auto questions = coverage_.ask(0, look.unsure, covers_, records_);
    for (auto& question : questions) {
      answer(question);
    }
    return coverage_.learn(0, questions, unput);
  }

  array::Shape shape_{1, {10}};
  contents::Catalogue catalogue_{{}, 1, true};
  Coverage coverage_{catalogue_, false};
  Covers covers_;
  std::vector<PutRecord> records_;
};

TEST_F(CoverageOfTen, NobodyLooksAtWhatIsPutOnce) {
  const auto seen = look({{0, 4}, {4, 6}});
  EXPECT_TRUE(seen.unsure.empty());
  EXPECT_TRUE(seen.unput.holes.empty());
}

TEST_F(CoverageOfTen, AnOverlapNamesBothRanks) {
  const auto seen = look({{0, 5}, {4, 6}});
  ASSERT_EQ(seen.unsure, std::vector<std::int32_t>{0});
  Coverage::Unput unput;
  const Outcome outcome = learn(seen, unput);
  EXPECT_EQ(outcome.code, ErrorCode::overlapping_puts);
  EXPECT_NE(outcome.story.find("compute rank 0"), std::string::npos) << outcome.story;
  EXPECT_NE(outcome.story.find("compute rank 1"), std::string::npos) << outcome.story;
  EXPECT_EQ(look({{0, 5}, {4, 6}}).unsure.size(), 1U) << "a failure is not remembered as good";
}

TEST_F(CoverageOfTen, HolesAreLookedAtOnceAndFilledInEachStep) {
  set_fill();
  Coverage::Unput unput;
  ASSERT_TRUE(learn(look({{0, 4}, {6, 4}}), unput).ok());
  ASSERT_TRUE(unput.holes.contains(0));
  EXPECT_EQ(unput.holes.at(0)->elements(), 2);
  const auto again = look({{0, 4}, {6, 4}});
  EXPECT_TRUE(again.unsure.empty());
  ASSERT_TRUE(again.unput.holes.contains(0));
  EXPECT_EQ(again.unput.holes.at(0)->elements(), 2);
}

TEST_F(CoverageOfTen, HolesThatReadAsZeroAreGapsWhereTheyAreShort) {
  Coverage::Unput unput;
  ASSERT_TRUE(learn(look({{0, 4}, {6, 4}}), unput).ok());
  EXPECT_TRUE(unput.holes.empty());
  ASSERT_TRUE(unput.gaps.contains(0));
  EXPECT_EQ(unput.gaps.at(0)->elements(), 2);
  const auto again = look({{0, 4}, {6, 4}});
  EXPECT_TRUE(again.unsure.empty() && again.unput.holes.empty());
  EXPECT_EQ(again.unput.gaps.at(0)->elements(), 2);
}

TEST_F(CoverageOfTen, HolesOfAPageThatReadAsZeroAreLeft) {
  shape_ = {1, {10'000}};
  contents::Event event;
  event.what = contents::Event::What::set_shape;
  event.variable = 0;
  event.shape = shape_;
  catalogue_.apply(event);
  for (const std::int64_t put : {1800, 1810}) {  // and twice 4100 and 4090 elements
    Coverage::Unput unput;
    ASSERT_TRUE(learn(look({{4095, put}}), unput).ok());
    EXPECT_TRUE(unput.holes.empty());
    EXPECT_EQ(unput.gaps.contains(0), put == 1810);
  }
}

TEST_F(CoverageOfTen, NothingIsFilledOfWhatNobodyPutsWhereNoValueIsSet) {
  EXPECT_TRUE(look({{3, 0}}).unput.holes.empty());
  set_fill();
  const auto seen = look({{3, 0}});
  EXPECT_TRUE(seen.unsure.empty());
  EXPECT_EQ(seen.unput.holes.at(0)->elements(), 10);
}

// Whoever put it has made other definitions, which is told elsewhere.
TEST_F(CoverageOfTen, AVariableThatNobodyHasDefinedHereIsPassedOver) {
  covers_.add(1, array::cover_of(shape_, array::Box{1, {0}, {3}}));
  const auto seen = coverage_.look(0, covers_);
  EXPECT_TRUE(seen.unsure.empty());
  EXPECT_TRUE(seen.unput.holes.empty());
}

TEST_F(CoverageOfTen, OtherHolesAreLookedAtAnew) {
  Coverage::Unput unput;
  ASSERT_TRUE(learn(look({{0, 4}}), unput).ok());
  EXPECT_EQ(look({{0, 5}}).unsure.size(), 1U);
}

TEST_F(CoverageOfTen, WhereOverlapsMayBeOnlyHolesThatMustBeFilledAreLookedFor) {
  coverage_ = Coverage{catalogue_, true};
  EXPECT_TRUE(look({{0, 5}, {4, 6}}).unsure.empty());
  set_fill();
  EXPECT_EQ(look({{0, 5}, {4, 5}}).unsure.size(), 1U);
}

Holes holes_of(std::int64_t elements) {
  array::RunList runs;
  runs.append({3, elements});
  return {{0, std::make_shared<const array::RunList>(runs)}};
}

std::int64_t elements_of_share(const Holes& holes, int writer) {
  const auto mine = share(holes, writer, 3);
  return mine.contains(0) ? mine.at(0)->elements() : 0;
}

TEST(Answer, APutOutsideTheVariableIsRefused) {
  contents::Variable variable;
  variable.shape = {.dimensions = 1, .extent = {10}};
  array::Box box{1, {8}, {3}};
  Question question{variable, {}, {{box, 0, 3}}, {0}};
  EXPECT_THROW(answer(question), Error);
  question.parts[0].region.box.start[0] = 7;
  EXPECT_NO_THROW(answer(question));
}

TEST(Share, OfManyHolesIsAboutAsMuchForEachWriter) {
  const auto holes = holes_of(1'000'000);
  std::int64_t all = 0;
  for (int writer = 0; writer < 3; ++writer) {
    EXPECT_GE(elements_of_share(holes, writer), 333'333);
    all += elements_of_share(holes, writer);
  }
  EXPECT_EQ(all, 1'000'000);
}

TEST(Share, OfAFewElementsIsOneWriters) {
  const auto holes = holes_of(7);
  EXPECT_EQ(elements_of_share(holes, 0), 7);
  EXPECT_EQ(elements_of_share(holes, 1), 0);
}

}  // namespace
}  // namespace iocomp::steps
