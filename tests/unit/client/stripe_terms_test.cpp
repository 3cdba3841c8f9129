// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/stripe_terms.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "config/settings.h"

namespace iocomp::client {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(StripeTerms, ARankGivesHalfOfItsMemoryToStripesOfWhichSeveralFit) {
  const auto terms = stripe_terms(config::Settings::read(
      "client.buffer_memory = \"64MiB\"\ntest.stripe = \"4MiB\"\ntest.segment = \"shm\""));
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->rank_bytes, 32 * mebibyte);
  EXPECT_EQ(terms->stripe_bytes, 4 * mebibyte);
  EXPECT_EQ(terms->segment, "shm");
  const auto tight = stripe_terms(
      config::Settings::read("client.buffer_memory = \"8MiB\"\ntest.stripe = \"4MiB\""));
  ASSERT_TRUE(tight);
  EXPECT_EQ(tight->rank_bytes, 4 * mebibyte);
  EXPECT_EQ(tight->stripe_bytes, mebibyte);
}

TEST(StripeTerms, NothingIsPutTogetherWithoutStripesOrMemoryForTwo) {
  for (const char* const text : {"test.stripe = \"0 B\"", "client.buffer_memory = \"0 B\"",
                                 "client.buffer_memory = \"16KiB\""}) {
    EXPECT_FALSE(stripe_terms(config::Settings::read(text))) << text;
  }
}

}  // namespace
}  // namespace iocomp::client
