// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/size_signal.h"
#include "disk/engine.h"
#include "disk/output_file.h"
#include "folder.h"
#include "page.h"

namespace iocomp::disk {
namespace {

template <typename Body>
std::string failure_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::storage_failure);
    return error.what();
  }
  return "nothing failed";
}

// A tmpfs that only this program sees, so that nothing is left behind whatever happens.
class TinyFileSystem {
 public:
  explicit TinyFileSystem(const std::string& folder) : folder_{folder} {
    is_mounted_ = ::unshare(CLONE_NEWNS) == 0 &&
                  ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                  ::mount("tiny", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
    if (!is_mounted_) {
      refusal_ = std::strerror(errno);
    }
  }
  TinyFileSystem(const TinyFileSystem&) = delete;
  TinyFileSystem& operator=(const TinyFileSystem&) = delete;
  ~TinyFileSystem() {
    if (is_mounted_) {
      ::umount2(folder_.c_str(), MNT_DETACH);
    }
  }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  std::string folder_;
  bool is_mounted_ = false;
  std::string refusal_;
};

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(OutputFile, IsNotDurableWhenItsNameIsGone) {
  const Folder folder;
  const std::string path = folder.file("f");
  OutputFile file{opened(path), path, {}};
  file.write(0, PageAligned{page}.bytes());
  file.sync();
  std::filesystem::remove(path);
  opened(path);  // somebody makes another one
  file.write(0, PageAligned{page}.bytes());
  for (int i = 0; i < 2; ++i) {
    const std::string story = failure_of([&] { file.sync(); });
    EXPECT_NE(story.find(path + ": No such file"), std::string::npos) << story;
  }
}

TEST(OutputFile, TellsOfAFullDevice) {
  const PageAligned data{2 * page};
  OutputFile file{opened("/dev/full"), "/dev/full", {}};
  EXPECT_EQ(failure_of([&] { file.write(4096, data.bytes()); }),
            "writing 8192 bytes at offset 4096 of /dev/full: No space left on device");
}

TEST(OutputFile, TakesADeviceThatKeepsNothing) {
  const PageAligned data{2 * page};
  OutputFile file{opened("/dev/null"), "/dev/null", {}};
  file.write(0, data.bytes());
  file.grow(1 << 20);
  file.sync();
  EXPECT_EQ(file.direct_bytes() + file.buffered_bytes(), 2 * page);
}

class FullDisk : public testing::TestWithParam<Direct> {};

TEST_P(FullDisk, IsToldAndTheFileGoesOnWhenThereIsRoomAgain) {
  const Folder folder;
  const TinyFileSystem tiny{folder.path()};
  if (!tiny.refusal().empty()) {
    GTEST_SKIP() << "cannot mount a tmpfs: " << tiny.refusal();
  }
  Options options;
  options.direct = GetParam();
  options.direct_from_bytes = page;
  const PageAligned data{std::size_t{2} << 20};
  {
    OutputFile ballast{opened(folder.file("ballast")), folder.file("ballast"), options};
    ballast.write(0, data.part(0, std::size_t{512} << 10));
  }
  OutputFile file{opened(folder.file("f")), folder.file("f"), options};
  EXPECT_EQ(failure_of([&] { file.write(0, data.part(0, std::size_t{1} << 20)); }),
            "writing 1048576 bytes at offset 0 of " + file.path() + ": No space left on device");
  std::filesystem::remove(folder.file("ballast"));
  file.write(0, data.part(0, 200 * page));
  file.sync();
  EXPECT_TRUE(same(content_of(file.path()), data.part(0, 200 * page)));
}

TEST_P(FullDisk, IsToldByEveryEngine) {
  for (const EngineKind kind : {EngineKind::automatic, EngineKind::threads}) {
    const Folder folder;
    const TinyFileSystem tiny{folder.path()};
    if (!tiny.refusal().empty()) {
      GTEST_SKIP() << "cannot mount a tmpfs: " << tiny.refusal();
    }
    Options options;
    options.engine = kind;
    options.direct = GetParam();
    const PageAligned data{std::size_t{2} << 20};
    const auto engine = start_engine(options);
    const auto file =
        std::make_shared<OutputFile>(opened(folder.file("f")), folder.file("f"), options);
    engine->submit({.id = 1, .file = file, .writes = {{.offset = 0, .bytes = data.bytes()}}});
    engine->wait(std::chrono::minutes{1});
    const auto completions = engine->take_completed();
    ASSERT_EQ(completions.size(), 1U);
    EXPECT_EQ(completions[0].story,
              "writing 2097152 bytes at offset 0 of " + file->path() + ": No space left on device");
  }
}

TEST_P(FullDisk, IsToldWhenTheFileGrows) {
  const Folder folder;
  const TinyFileSystem tiny{folder.path()};
  if (!tiny.refusal().empty()) {
    GTEST_SKIP() << "cannot mount a tmpfs: " << tiny.refusal();
  }
  Options options;
  options.direct = GetParam();
  const PageAligned data{std::size_t{1} << 20};
  OutputFile file{opened(folder.file("f")), folder.file("f"), options};
  file.write(0, data.bytes());
  EXPECT_EQ(failure_of([&] { file.grow(2 << 20); }),
            "growing " + file.path() + " to 2097152 bytes: No space left on device");
}

INSTANTIATE_TEST_SUITE_P(Disk, FullDisk, every_mode, mode_name);

class LimitedFileSize : public testing::TestWithParam<Direct> {};

TEST_P(LimitedFileSize, IsToldByTheWriteThatExceedsIt) {
  const Folder folder;
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  Options options;
  options.direct = GetParam();
  const PageAligned data{8 * page};
  OutputFile file{opened(folder.file("f")), folder.file("f"), options};
  std::string story;
  {
    const FileSizeLimit limit{10'000};
    story = failure_of([&] { file.write(0, data.bytes()); });
  }
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(story, "writing 32768 bytes at offset 0 of " + file.path() + ": File too large");
  EXPECT_TRUE(same(content_of(file.path()), data.part(0, 10'000)));
}

TEST_P(LimitedFileSize, IsToldByAnEngineWithoutHelpOfTheProgram) {
  const auto before = std::signal(SIGXFSZ, SIG_DFL);
  const SizeSignalHeld held;  // by the call of the program that writes
  for (const EngineKind kind : {EngineKind::automatic, EngineKind::threads}) {
    const Folder folder;
    Options options;
    options.engine = kind;
    options.direct = GetParam();
    const auto engine = start_engine(options);
    const auto file =
        std::make_shared<OutputFile>(opened(folder.file("f")), folder.file("f"), options);
    for (const std::size_t pages : {8U, 1024U}) {
      const PageAligned data{pages * page};
      const FileSizeLimit limit{10'000};
      engine->submit({.id = 1, .file = file, .writes = {{.offset = 0, .bytes = data.bytes()}}});
      engine->wait(std::chrono::minutes{1});
      const auto completions = engine->take_completed();
      ASSERT_EQ(completions.size(), 1U);
      EXPECT_EQ(completions[0].story, "writing " + std::to_string(pages * page) +
                                          " bytes at offset 0 of " + file->path() +
                                          ": File too large");
    }
  }
  std::signal(SIGXFSZ, before);
}

INSTANTIATE_TEST_SUITE_P(Disk, LimitedFileSize, every_mode, mode_name);

}  // namespace
}  // namespace iocomp::disk
