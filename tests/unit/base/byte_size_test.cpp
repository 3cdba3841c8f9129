// SPDX-License-Identifier: BSD-3-Clause
#include "base/byte_size.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include "unit/seed.h"

namespace iocomp {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(ParseBytes, TakesANumberWithoutUnitAsBytes) {
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("0"), 0);
}

TEST(ParseBytes, KnowsDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_bytes("7 B"), 7);
  EXPECT_EQ(parse_bytes("10 MB"), 10'000'000);
  EXPECT_EQ(parse_bytes("2TB"), 2'000'000'000'000);
  EXPECT_EQ(parse_bytes("64 KiB"), 65536);
  EXPECT_EQ(parse_bytes("3 TiB"), std::int64_t{3} << 40);
}

TEST(ParseBytes, IgnoresCaseAndBlanks) {
  EXPECT_EQ(parse_bytes("  64kib "), 65536);
  EXPECT_EQ(parse_bytes("1\tgIb"), std::int64_t{1} << 30);
  EXPECT_EQ(parse_bytes("4 KiB\r\n"), 4096);
}

TEST(ParseBytes, TakesFractionsOfAUnit) {
  EXPECT_EQ(parse_bytes("1.5 GiB"), std::int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("0.5 KB"), 500);
}

TEST(ParseBytes, IsExactUpToTheLastOf63Bits) {
  EXPECT_EQ(parse_bytes("9223372036854775807"), most);
  EXPECT_EQ(parse_bytes("8388607 TiB"), std::int64_t{8388607} << 40);
}

TEST(ParseBytes, RefusesWhatIsTooLarge) {
  EXPECT_EQ(parse_bytes("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_bytes("8388608 TiB"), std::nullopt);
  EXPECT_EQ(parse_bytes("8388608.5 TiB"), std::nullopt);
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", " ", "KiB", "-1", "-4 KiB", "+4", "4 Ki", "4 KiBs", "1.5", "1.5 B", "1.", ".5 KiB",
        "1.2.3 KiB", "1e3", "0x10", "1 000", "nan", "inf", "4 KiB 4"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(FormatBytes, ShowsOneDecimalWhereItIsNotZero) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(3 << 19), "1.5 MiB");
  EXPECT_EQ(format_bytes(13314398617), "12.4 GiB");
  EXPECT_EQ(format_bytes(-2048), "-2 KiB");
}

TEST(FormatBytes, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1 MiB");
  EXPECT_EQ(format_bytes((std::int64_t{1} << 40) - 1), "1 TiB");
}

TEST(FormatBytes, IsParsedBackToWithinTheDecimalShown) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t bytes = draw(generator, 0, most >> draw(generator, 1, 62));
    const auto parsed = parse_bytes(format_bytes(bytes));
    ASSERT_TRUE(parsed.has_value()) << bytes;
    EXPECT_NEAR(static_cast<double>(*parsed), static_cast<double>(bytes),
                0.05 * static_cast<double>(bytes) + 1);
  }
}

}  // namespace
}  // namespace iocomp
