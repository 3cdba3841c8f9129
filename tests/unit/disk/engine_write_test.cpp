// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "disk/engine.h"
#include "engines.h"
#include "folder.h"
#include "page.h"
#include "unit/seed.h"

namespace iocomp::disk {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// Every engine, in every way to write.
class WritingEngine : public testing::TestWithParam<std::tuple<EngineKind, Direct>> {
 protected:
  void SetUp() override {
    options_.engine = std::get<0>(GetParam());
    options_.direct = std::get<1>(GetParam());
    try {
      engine_ = start_engine(options_);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::shared_ptr<OutputFile> open(const std::string& name) {
    return std::make_shared<OutputFile>(opened(folder_.file(name)), folder_.file(name), options_);
  }
  void finish(std::size_t plans) {
    const auto completions = wait_for_all(*engine_);
    EXPECT_EQ(completions.size(), plans);
    for (const Completion& completion : completions) {
      EXPECT_EQ(completion.code, ErrorCode::ok) << completion.story;
    }
  }

  Folder folder_;
  Options options_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(WritingEngine, WritesHeadsBodiesAndTailsExactly) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  const PageAligned data{6 * mebibyte, seed};
  for (int i = 0; i < 20; ++i) {
    options_.request_bytes = static_cast<std::size_t>(draw(generator, 1, 400)) * page;
    const auto file = open(std::to_string(i));
    const std::vector<std::byte> before(7 * mebibyte, std::byte{0x5A});
    file->write(0, before);
    const auto first = static_cast<std::size_t>(draw(generator, 0, 2 * page));
    const auto count = static_cast<std::size_t>(draw(generator, 1, 5 * mebibyte));
    const auto shift = static_cast<std::size_t>(draw(generator, 0, 1)) * 8;
    engine_->submit({.id = 1,
                     .file = file,
                     .writes = {{.offset = static_cast<std::int64_t>(first + shift),
                                 .bytes = data.part(first, count)}},
                     .sync = true});
    finish(1);
    auto expected = before;
    std::ranges::copy(data.part(first, count),
                      expected.begin() + static_cast<std::ptrdiff_t>(first + shift));
    ASSERT_TRUE(same(content_of(file->path()), expected));
    ASSERT_EQ(file->direct_bytes() + file->buffered_bytes(), before.size() + count);
  }
}

TEST_P(WritingEngine, CarriesOutManySmallPlans) {
  constexpr std::size_t part_bytes = 1'237;
  constexpr std::size_t parts = 3'000;
  const PageAligned data{part_bytes * parts};
  const auto file = open("f");
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t first = i * part_bytes;
    engine_->submit({.id = i,
                     .file = file,
                     .writes = {{.offset = static_cast<std::int64_t>(first),
                                 .bytes = data.part(first, part_bytes)}},
                     .sync = i % 100 == 0});
  }
  finish(parts);
  EXPECT_TRUE(same(content_of(file->path()), data.bytes()));
}

TEST_P(WritingEngine, CarriesOutAPlanOfMoreRequestsThanTheKernelIsGiven) {
  const PageAligned data{4 * mebibyte};
  options_.request_bytes = page;
  const auto file = open("f");
  Plan plan{.id = 1, .file = file, .writes = {}, .sync = true};
  for (std::size_t first = 0; first < data.bytes().size(); first += 3 * page) {
    const std::size_t count = std::min(3 * page, data.bytes().size() - first);
    plan.writes.push_back(
        {.offset = static_cast<std::int64_t>(first), .bytes = data.part(first, count)});
  }
  engine_->submit(std::move(plan));
  finish(1);
  EXPECT_TRUE(same(content_of(file->path()), data.bytes()));
}

TEST_P(WritingEngine, WritesFarOutInSeveralFilesAtOnce) {
  const PageAligned data{20 * mebibyte};
  constexpr std::int64_t far = std::int64_t{5} << 30;
  const auto one = open("one");
  const auto other = open("other");
  for (const auto& file : {one, other}) {
    engine_->submit({.id = 1, .file = file, .writes = {{.offset = far, .bytes = data.bytes()}}});
  }
  finish(2);
  for (const auto& file : {one, other}) {
    std::ifstream read{file->path(), std::ios::binary};
    std::vector<std::byte> content(data.bytes().size());
    read.seekg(far);
    read.read(reinterpret_cast<char*>(content.data()), std::ssize(content));
    EXPECT_TRUE(same(content, data.bytes()));
  }
}

TEST_P(WritingEngine, WritesGibibytesAtOnce) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer keeps a shadow of what is written, several times as large";
#endif
  constexpr std::size_t bytes = std::size_t{5} << 30;  // of addresses; nobody reads them
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto file = std::make_shared<OutputFile>(opened("/dev/null"), "/dev/null", options_);
  engine_->submit({.id = 1,
                   .file = file,
                   .writes = {{.offset = 0, .bytes = {static_cast<std::byte*>(memory), bytes}}}});
  finish(1);
  EXPECT_EQ(file->direct_bytes() + file->buffered_bytes(), bytes);
  ::munmap(memory, bytes);
}

std::string both_names(const testing::TestParamInfo<std::tuple<EngineKind, Direct>>& tested) {
  const auto [engine, mode] = tested.param;
  return engine_name({engine, 0}) + mode_name({mode, 0});
}

INSTANTIATE_TEST_SUITE_P(Disk, WritingEngine, testing::Combine(every_engine, every_mode),
                         both_names);

}  // namespace
}  // namespace iocomp::disk
