// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "blocks/baselines/baseline.h"
#include "blocks/paths.h"
#include "common/ranks.h"

namespace iocomp::apps::blocks {
namespace {

constexpr std::size_t largest_call = std::size_t{8} << 20;

/// The bytes of all ranks before this one, and of all of them.
struct Share {
  std::int64_t before = 0;
  std::int64_t own = 0;
  std::int64_t all = 0;
};

Share share_of(const Target& target) {
  Share share;
  share.own = target.block.own.elements() * static_cast<std::int64_t>(sizeof(double));
  MPI_Exscan(&share.own, &share.before, 1, MPI_INT64_T, MPI_SUM, target.comm);
  if (rank_in(target.comm) == 0) share.before = 0;
  MPI_Allreduce(&share.own, &share.all, 1, MPI_INT64_T, MPI_SUM, target.comm);
  return share;
}

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// An open file of raw bytes: the ranks' packed blocks one after the other, step after step.
class PlainFile : public BlockFile {
 public:
  explicit PlainFile(const Target& target) : target_{target}, share_{share_of(target)} {
    file_ = open(target.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) fail("open " + target.path);
  }
  ~PlainFile() override {
    if (file_ >= 0) ::close(file_);
  }

  void finish() override {
    if (target_.durable && fsync(file_) != 0) fail("fsync of " + target_.path);
    if (::close(file_) != 0) fail("close of " + target_.path);
    file_ = -1;
    MPI_Barrier(target_.comm);
  }

 protected:
  void write(std::span<const double> values, std::int64_t offset) {
    std::span<const std::byte> left = std::as_bytes(values);
    while (!left.empty()) {
      const ssize_t written =
          pwrite(file_, left.data(), std::min(left.size(), largest_call), offset);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("pwrite to " + target_.path);
      left = left.subspan(static_cast<std::size_t>(written));
      offset += written;
    }
  }

  Target target_;
  Share share_;
  std::int64_t step_ = 0;

 private:
  int file_ = -1;
};

/// Every rank writes its packed block.
class PosixFile : public PlainFile {
 public:
  using PlainFile::PlainFile;
  void put(std::size_t /*slot*/, std::span<const double> values) override {
    write(values, step_++ * share_.all + share_.before);
  }
};

/// The first rank writes as many bytes as all have together: its own block, again and again.
class PosixOneFile : public PlainFile {
 public:
  using PlainFile::PlainFile;
  void put(std::size_t /*slot*/, std::span<const double> values) override {
    const std::int64_t begin = step_++ * share_.all;
    if (rank_in(target_.comm) != 0) return;
    for (std::int64_t done = 0; done < share_.all;) {
      const std::int64_t bytes = std::min(share_.own, share_.all - done);
      if (bytes == 0) throw std::runtime_error("posix-one: the first rank has no elements");
      write(values.first(static_cast<std::size_t>(bytes) / sizeof(double)), begin + done);
      done += bytes;
    }
  }
};

class PosixReader : public BlockReader {
 public:
  explicit PosixReader(const Target& target) : target_{target}, share_{share_of(target)} {
    file_ = open(target.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail("open " + target.path);
  }
  ~PosixReader() override { ::close(file_); }

  /// Only the rank's own block: packed bytes have no other boxes.
  void read(int step, const Box& box, std::span<double> values) override {
    if (box.start != target_.block.own.start || box.count != target_.block.own.count) {
      throw std::runtime_error("baseline posix reads only the block that a rank has written");
    }
    std::span<std::byte> left = std::as_writable_bytes(values);
    std::int64_t offset = step * share_.all + share_.before;
    while (!left.empty()) {
      const ssize_t found = pread(file_, left.data(), std::min(left.size(), largest_call), offset);
      if (found < 0 && errno == EINTR) continue;
      if (found < 0) fail("pread of " + target_.path);
      if (found == 0) throw std::runtime_error(target_.path + " ends too early");
      left = left.subspan(static_cast<std::size_t>(found));
      offset += found;
    }
  }

 private:
  Target target_;
  Share share_;
  int file_ = -1;
};

}  // namespace

std::unique_ptr<BlockFile> create_posix(const Target& target) {
  return std::make_unique<PosixFile>(target);
}
std::unique_ptr<BlockReader> open_posix(const Target& target) {
  return std::make_unique<PosixReader>(target);
}
std::unique_ptr<BlockFile> create_posix_one(const Target& target) {
  return std::make_unique<PosixOneFile>(target);
}

}  // namespace iocomp::apps::blocks
