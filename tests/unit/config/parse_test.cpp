// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <vector>

namespace iocomp::config {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(Parse, ReadsIntegersOfSixtyFourBits) {
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_integer(" -5 "), -5);
}

TEST(Parse, RefusesWhatIsNoWholeInteger) {
  for (const auto* text : {"", " ", "1.5", "7up", "0x10", "9223372036854775808", "1 2"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(Parse, ReadsRealNumbers) {
  EXPECT_EQ(parse_real("0.5"), 0.5);
  EXPECT_EQ(parse_real("1e3"), 1000.0);
}

TEST(Parse, RefusesNumbersWithoutEnd) {
  for (const auto* text : {"inf", "nan", "1e999", "", "1,5"}) {
    EXPECT_EQ(parse_real(text), std::nullopt) << text;
  }
}

TEST(Parse, ReadsWhoShallServe) {
  EXPECT_EQ(parse_servers("2 per node")->per_node, 2);
  EXPECT_EQ(parse_servers(" 1-PER-8 ")->ratio, 8);
  EXPECT_EQ(parse_servers("[3]")->ranks, std::vector<std::int64_t>{3});
  EXPECT_EQ(parse_servers("3, 7")->ranks, (std::vector<std::int64_t>{3, 7}));
  EXPECT_TRUE(parse_servers("")->ranks.empty());
  EXPECT_FALSE(parse_servers("")->are_none);
  EXPECT_TRUE(parse_servers(" None ")->are_none);
  EXPECT_TRUE(parse_servers(" [ ]")->are_none);
  for (const auto* text : {"", " ", "none", "[]"}) {
    EXPECT_FALSE(parse_servers(text)->are_wanted()) << text;
  }
  for (const auto* text : {"[0]", "0", "2 per node", "1 per 8"}) {
    EXPECT_EQ(parse_servers(text) && parse_servers(text)->are_wanted(), text[0] != '0') << text;
  }
  for (const auto* text :
       {"2", "2 per 8", "0 per node", "1 per 0", "two per node", "1 per", "2 per nodes", "-1,2",
        "[1", "node", "-1 per node", "1 per -node", "[3,3]", "3,7,3", "1 per 8 per node"}) {
    EXPECT_FALSE(parse_servers(text)) << text;
  }
}

TEST(Parse, ReadsOnWhatAProgramShallStop) {
  EXPECT_EQ(parse_signals("SIGUSR1, term"), (std::vector<int>{SIGUSR1, SIGTERM}));
  EXPECT_EQ(parse_signals(""), std::vector<int>{});
  for (const auto* text : {"SIGKILL", "10", "SIGRTMIN+1", "USR1,none"}) {
    EXPECT_FALSE(parse_signals(text)) << text;
  }
  EXPECT_FALSE(parse_stop("end")->moment);
  EXPECT_EQ(parse_stop("end - 10 min")->seconds_before, 600.0);
  EXPECT_EQ(parse_stop("1795456800 - 5 s")->moment, 1795456800.0);
  EXPECT_TRUE(parse_stop("2026-11-23T18:00")->moment);
  EXPECT_TRUE(parse_stop(""));
  for (const auto* text : {"2026-02-30T18:00", "end + 5 min", "2026-11-23T25:00", "tomorrow",
                           " - 5 s", "end - 5 parsecs"}) {
    EXPECT_FALSE(parse_stop(text)) << text;
  }
}

TEST(Parse, ReadsDurationsInTheirUnits) {
  EXPECT_EQ(parse_duration("90"), 90.0);
  EXPECT_EQ(parse_duration(" 5 min "), 300.0);
  EXPECT_EQ(parse_duration("1.5h"), 5400.0);
  EXPECT_EQ(parse_duration("250 MS"), 0.25);
  EXPECT_EQ(parse_duration("0 s"), 0.0);
  for (const auto* text : {"", "min", "-1 s", "5 parsecs", "5 m", "1 2", "inf"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Parse, KnowsUnitsOfTimesThatReadersKnow) {
  for (const auto* text :
       {"days since 1850-01-01", "s since 2000-1-1 6:30", "Hours since 0001-01-01 00:00:00",
        "min since 1970-01-01T00:00:00Z", "seconds since 1992-10-8 15:15:42.5 -6:00"}) {
    EXPECT_TRUE(is_time_unit(text)) << text;
  }
  for (const auto* text :
       {"", "days", "days since", "days since banana", "fortnights since 2000-01-01",
        "days since 2000", "days since 2000-13-01", "days since 2000-01-32",
        "days since 2000-01-01 24:00", "days since 2000-01-01 noon", "days  since 2000-01-01"}) {
    EXPECT_FALSE(is_time_unit(text)) << text;
  }
}

TEST(Parse, KnowsTheUsualWordsForTruth) {
  for (const auto* text : {"true", "on", "Yes", "1", "TRUE"}) {
    EXPECT_EQ(parse_boolean(text), true) << text;
  }
  for (const auto* text : {"false", "off", "No", "0"}) {
    EXPECT_EQ(parse_boolean(text), false) << text;
  }
  for (const auto* text : {"", "2", "maybe"}) {
    EXPECT_EQ(parse_boolean(text), std::nullopt) << text;
  }
}

TEST(Parse, ReadsListsWithCommasOrBlanks) {
  EXPECT_EQ(parse_list("1,3,5"), (Numbers{1, 3, 5}));
  EXPECT_EQ(parse_list(" 1 , 3  5 "), (Numbers{1, 3, 5}));
  EXPECT_EQ(parse_list("7"), Numbers{7});
  EXPECT_EQ(parse_list(""), Numbers{});
}

TEST(Parse, RefusesListsWithHoles) {
  for (const auto* text : {",", "1,", ",1", "1,,2", "1,x"}) {
    EXPECT_EQ(parse_list(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace iocomp::config
