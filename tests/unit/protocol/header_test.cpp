// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/header.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::protocol {
namespace {

const std::vector<std::byte> content{std::byte{1}, std::byte{2}, std::byte{3}};

std::vector<std::byte> changed(const std::function<void(Header&)>& change) {
  auto bytes = message(Kind::open, 7, content);
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  change(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::string refusal(std::span<const std::byte> message) {
  return outcome_of([&] { (void)check_header(message, 5); }).story;
}

TEST(Header, ComesBackWithItsBody) {
  const auto bytes = message(Kind::piece, 7, content);
  const Header header = check_header(bytes, 5);
  EXPECT_EQ(header.kind, Kind::piece);
  EXPECT_EQ(header.file, 7U);
  EXPECT_EQ(header.body_bytes, 3U);
  const auto rest = body(bytes);
  EXPECT_EQ(std::vector(rest.begin(), rest.end()), content);
}

TEST(Header, MayHaveNoBody) {
  const auto bytes = message(Kind::bye, 0, {});
  EXPECT_EQ(check_header(bytes, 0).body_bytes, 0U);
  EXPECT_TRUE(body(bytes).empty());
}

TEST(Header, IsRefusedWhenTheMessageIsShorter) {
  const auto bytes = message(Kind::open, 7, content);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refusal(std::span{bytes}.first(size)), "") << size;
  }
}

TEST(Header, IsRefusedWhenTheMessageIsLonger) {
  auto bytes = message(Kind::open, 7, content);
  bytes.push_back({});
  EXPECT_NE(refusal(bytes).find("claims a body of 3 bytes"), std::string::npos);
}

TEST(Header, OfAnotherProgramIsRefusedAndTheSenderNamed) {
  const auto story = refusal(changed([](Header& header) { ++header.magic; }));
  EXPECT_NE(story.find("rank 5"), std::string::npos);
  EXPECT_NE(story.find("is not one of iocomp"), std::string::npos);
}

TEST(Header, OfAnotherVersionIsRefused) {
  EXPECT_NE(refusal(changed([](Header& header) { ++header.version; })).find("speaks version"),
            std::string::npos);
}

}  // namespace
}  // namespace iocomp::protocol
