// SPDX-License-Identifier: BSD-3-Clause
#include "steps/definitions.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "contents/catalogue.h"

namespace iocomp::steps {
namespace {

std::vector<std::byte> definition(const std::string& name, std::int64_t step = 0) {
  contents::Event event;
  event.what = contents::Event::What::define;
  event.step = step;
  event.name = name;
  event.shape = array::Shape{1, {4}};
  return contents::encode(event);
}

TEST(Definitions, TheFirstToSayOneIsFollowedByTheOthers) {
  Definitions definitions;
  EXPECT_EQ(definitions.say(0, 3, definition("u")), Definitions::Said::first);
  EXPECT_EQ(definitions.say(0, 1, definition("u")), Definitions::Said::again);
  EXPECT_EQ(definitions.say(1, 1, definition("v")), Definitions::Said::first);
}

TEST(Definitions, WhoSaysSomethingElseIsNamed) {
  Definitions definitions;
  (void)definitions.say(0, 3, definition("u", 2));
  ASSERT_EQ(definitions.say(0, 1, definition("w", 2)), Definitions::Said::different);
  const auto difference = definitions.difference(0, 1, definition("w", 2));
  EXPECT_EQ(difference.from_step, 2);
  for (const char* word : {"compute rank 1", "compute rank 3", "\"u\"", "\"w\""}) {
    EXPECT_NE(difference.what.find(word), std::string::npos) << difference.what;
  }
}

TEST(Definitions, OfStepsThatAllHaveEndedAreKnownAgain) {
  Definitions definitions;
  (void)definitions.say(0, 3, definition("u", 0));
  (void)definitions.say(1, 3, definition("v", 1));
  definitions.shorten(0);
  EXPECT_EQ(definitions.say(0, 1, definition("u", 0)), Definitions::Said::again);
  EXPECT_EQ(definitions.say(1, 1, definition("v", 1)), Definitions::Said::again);
  ASSERT_EQ(definitions.say(0, 2, definition("w", 2)), Definitions::Said::different);
  const auto difference = definitions.difference(0, 2, definition("w", 2));
  EXPECT_EQ(difference.from_step, 0);
  EXPECT_NE(difference.what.find("compute rank 3 had called something else in step 0"),
            std::string::npos)
      << difference.what;
  EXPECT_EQ(definitions.say(2, 1, definition("w", 1)), Definitions::Said::first);
}

TEST(Definitions, OneThatComesOutOfOrderIsOurMistake) {
  Definitions definitions;
  EXPECT_THROW((void)definitions.say(1, 0, definition("u")), Error);
}

}  // namespace
}  // namespace iocomp::steps
