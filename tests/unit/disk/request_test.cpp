// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "disk/output_file.h"
#include "folder.h"
#include "page.h"

namespace iocomp::disk {
namespace {

// Tests the ground that RingEngine stands on; OutputFile::write, made of the same steps, has tests
// of its own.
class Requests : public testing::Test {
 protected:
  Requests() {
    options_.direct = Direct::on;
    options_.request_bytes = 4 * page;
  }
  std::vector<Request> all_of(OutputFile& file, std::int64_t offset,
                              std::span<const std::byte> bytes) {
    std::vector<Request> requests;
    Remaining remaining = file.begin_write(offset, bytes);
    while (!remaining.bytes.empty()) {
      requests.push_back(file.take_request(remaining));
    }
    return requests;
  }

  Folder folder_;
  Options options_;
  PageAligned data_{16 * page};
};

TEST_F(Requests, CoverARunWithoutGaps) {
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), options_};
  std::int64_t at = 100;
  const std::byte* from = data_.bytes().data() + 100;
  for (const Request& request : all_of(file, 100, data_.part(100, 12 * page))) {
    EXPECT_EQ(request.offset, at);
    EXPECT_EQ(request.bytes.data(), from);
    EXPECT_LE(request.bytes.size(), 4 * page);
    if (request.direct) {
      EXPECT_EQ(request.offset % std::int64_t{page}, 0);
      EXPECT_EQ(request.bytes.size() % page, 0U);
    }
    at += std::ssize(request.bytes);
    from += request.bytes.size();
  }
  EXPECT_EQ(at, std::int64_t{100 + 12 * page});
}

TEST_F(Requests, GoOnAtAWholeBlockAfterAShortDirectWrite) {
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), options_};
  const Answer answer = file.answered(
      {.direct = true, .offset = 8 * page, .bytes = data_.part(0, 4 * page)}, 2 * page + 5);
  EXPECT_EQ(answer.error, 0);
  EXPECT_TRUE(answer.rest.direct);
  EXPECT_EQ(answer.rest.offset, std::int64_t{10 * page});
  EXPECT_EQ(answer.rest.bytes.data(), data_.bytes().data() + 2 * page);
  EXPECT_EQ(answer.rest.bytes.size(), 2 * page);
  EXPECT_EQ(file.direct_bytes(), 2 * page);
}

TEST_F(Requests, GoOnBufferedWhereDirectWritesAreRefused) {
  for (const int refusal : {EINVAL, EOPNOTSUPP}) {
    OutputFile file{opened(folder_.file("f")), folder_.file("f"), options_};
    const Request asked{.direct = true, .offset = 0, .bytes = data_.part(0, 4 * page)};
    const Answer answer = file.answered(asked, -refusal);
    EXPECT_EQ(answer.error, 0);
    EXPECT_FALSE(answer.rest.direct);
    EXPECT_EQ(answer.rest.bytes.size(), asked.bytes.size());
    for (const Request& request : all_of(file, 0, data_.bytes())) {
      EXPECT_FALSE(request.direct) << "asked again";
    }
  }
}

TEST_F(Requests, EndWithTheErrorOfTheSystem) {
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), options_};
  for (const bool direct : {false, true}) {
    const Request asked{.direct = direct, .offset = 0, .bytes = data_.part(0, page)};
    const Answer answer = file.answered(asked, -ENOSPC);
    EXPECT_EQ(answer.error, ENOSPC);
    EXPECT_TRUE(answer.rest.bytes.empty());
  }
  EXPECT_EQ(file.answered({.bytes = data_.part(0, 1)}, 0).error, EIO) << "no progress";
}

TEST_F(Requests, RememberThatASyncFailed) {
  OutputFile file{opened(folder_.file("f")), folder_.file("f"), options_};
  EXPECT_EQ(file.begin_sync(), 0);
  EXPECT_EQ(file.end_sync(EIO), EIO);
  EXPECT_EQ(file.begin_sync(), EIO) << "the system tells it once";
}

}  // namespace
}  // namespace iocomp::disk
