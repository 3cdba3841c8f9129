#include "formats/lustre_layout.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "unit/temporary_folder.h"

namespace iocomp::formats {
namespace {

template <typename Number>
Number at(std::span<const std::byte> bytes, std::size_t offset) {
  Number number{};
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// As Lustre's lustre_user.h has it: magic, pattern, 16 bytes for an object, size, count, first.
TEST(LustreLayout, IsWhatItsHeaderSays) {
  const auto some = lustre_layout(12, 1 << 20);
  EXPECT_EQ(at<std::uint32_t>(some, 0), 0x0BD10BD0U);
  EXPECT_EQ(at<std::uint32_t>(some, 4), 1U);
  EXPECT_EQ(at<std::uint64_t>(some, 8), 0U);
  EXPECT_EQ(at<std::uint64_t>(some, 16), 0U);
  EXPECT_EQ(at<std::uint32_t>(some, 24), 1U << 20);
  EXPECT_EQ(at<std::uint16_t>(some, 28), 12U);
  EXPECT_EQ(at<std::uint16_t>(some, 30), 0xFFFFU);
  EXPECT_EQ(at<std::uint16_t>(lustre_layout(-1, 1 << 20), 28), 0xFFFFU);
}

class Striped : public testing::Test {
 protected:
  int make(int result) {
    return make_striped(path_, lustre_layout(4, 1 << 20),
                        [&](int file, std::span<const std::byte> layout) {
                          struct stat status{};
                          EXPECT_EQ(::fstat(file, &status), 0);
                          EXPECT_EQ(status.st_size, 0);
                          told_.assign(layout.begin(), layout.end());
                          return result;
                        });
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
  std::vector<std::byte> told_;
};

TEST_F(Striped, IsThereWithItsLayout) {
  EXPECT_EQ(make(0), 0);
  EXPECT_TRUE(std::filesystem::is_empty(path_));
  EXPECT_EQ(at<std::uint16_t>(told_, 28), 4U);
}

TEST_F(Striped, IsNotThereWhereItCouldNotBeLaidOut) {
  EXPECT_EQ(make(ENOTTY), ENOTTY);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Striped, LeavesAloneWhatIsThere) {
  std::ofstream{path_} << "old";
  EXPECT_EQ(make(0), EEXIST);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(std::filesystem::file_size(path_), 3U);
}

TEST_F(Striped, IsNothingOnOtherFileSystems) {
  lay_out(path_);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace iocomp::formats
