// SPDX-License-Identifier: BSD-3-Clause
#include "disk/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/bug.h"
#include "base/crew.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/log.h"
#include "base/open_folder.h"
#include "disk/pace.h"

namespace iocomp::disk {
namespace {

// Buffered and direct writes must not share a page of the page cache: writing back the page would
// put old bytes over what went past it.
constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t largest_block_bytes = std::int64_t{1} << 16;
// One slice is copied into the page cache while the disk writes the one before.
constexpr std::size_t slice_bytes = std::size_t{8} << 20;
// The kernel cuts longer requests short, at an end that O_DIRECT could not go on from.
constexpr std::size_t largest_request_bytes = std::size_t{1} << 30;

std::string system_text(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const std::string& what, int error) {
  throw Error{ErrorCode::storage_failure, what + ": " + system_text(error)};
}

template <typename Call>
auto retried(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) {
    result = call();
  }
  return result;
}

// File systems over a network report as block the size of the requests they like, not a unit of
// writing.
std::int64_t block_bytes_of(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) {
    return page_bytes;
  }
  const auto block = static_cast<std::int64_t>(status.st_blksize);
  const bool is_unit = block > page_bytes && block <= largest_block_bytes &&
                       std::has_single_bit(static_cast<std::uint64_t>(block));
  return is_unit ? block : page_bytes;
}

// The length of a file; nothing for a device, which nothing shortens. @throws
// Error{storage_failure}.
std::optional<std::int64_t> length_of(int descriptor, const std::string& path) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) {
    refuse("cannot look at " + path, errno);
  }
  return S_ISREG(status.st_mode) ? std::optional{status.st_size} : std::nullopt;
}

// 0 or an errno.
int write_again(int descriptor, std::int64_t offset) {
  std::byte byte{};
  const bool is_read = retried([&] { return ::pread(descriptor, &byte, 1, offset); }) >= 0;
  return is_read && retried([&] { return ::pwrite(descriptor, &byte, 1, offset); }) == 1 ? 0
                                                                                         : errno;
}

constexpr std::int64_t rounded_down(std::int64_t value, std::int64_t unit) {
  return value / unit * unit;
}

}  // namespace

OutputFile::OutputFile(Descriptor file, std::string path, const Options& options)
    : path_{std::move(path)},
      options_{options},
      buffered_{std::move(file)},
      window_{static_cast<std::int64_t>(slice_bytes)} {
  block_bytes_ = block_bytes_of(buffered_.raw());
  if (options_.direct != Direct::off) {
    direct_ = open_again(buffered_, O_WRONLY | O_DIRECT);
  }
}

OutputFile::~OutputFile() {
  close(direct_);
  close(buffered_);
}

// Synced bytes are safe whatever close says. For others this is the last chance to tell of an
// error.
void OutputFile::close(Descriptor& descriptor) noexcept {
  if (descriptor.close() == 0 || errno == EINTR || !has_unsynced_) {
    return;
  }
  try {
    log::error("closing " + path_ + ", which was not synced: " + system_text(errno));
  } catch (...) {  // nobody is left to tell
  }
}

void OutputFile::write(std::int64_t offset, std::span<const std::byte> bytes) {
  Remaining remaining = begin_write(offset, bytes);
  while (!remaining.bytes.empty()) {
    wait_for_pace();
    if (const int error = perform(take_request(remaining)); error != 0) {
      throw Error{ErrorCode::storage_failure, write_story(offset, bytes.size(), error)};
    }
  }
}

// Shares begin at borders in the file that no O_DIRECT write needs to cross, and each is long
// enough for one.
void OutputFile::write_by_all(std::int64_t offset, std::span<const std::byte> bytes) {
  if (!is_divided()) {
    write(offset, bytes);
    return;
  }
  const auto unit = static_cast<std::size_t>(
      (static_cast<std::int64_t>(options_.direct_from_bytes) / block_bytes_ + 1) * block_bytes_);
  const auto past = static_cast<std::size_t>(offset % block_bytes_);
  const std::size_t head =
      std::min(bytes.size(), past == 0 ? 0 : static_cast<std::size_t>(block_bytes_) - past);
  share(options_.crew, bytes.subspan(head), unit, [&](std::size_t begin, std::size_t end) {
    const std::size_t from = begin == 0 ? 0 : head + begin;
    write(offset + static_cast<std::int64_t>(from), bytes.subspan(from, head + end - from));
  });
}

Remaining OutputFile::begin_write(std::int64_t offset, std::span<const std::byte> bytes) {
  if (!bytes.empty()) {
    has_unsynced_ = true;
  }
  return {.offset = offset, .bytes = bytes, .direct = direct_part(offset, bytes)};
}

// The whole blocks of a run that may go O_DIRECT: none, at the beginning of the run, where that is
// not possible.
FileRange OutputFile::direct_part(std::int64_t offset, std::span<const std::byte> bytes) const {
  const FileRange none{.offset = offset, .bytes = 0};
  const bool is_long_enough =
      options_.direct == Direct::on || bytes.size() >= options_.direct_from_bytes;
  if (!direct_.is_open() || direct_refused_ || !is_long_enough) {
    return none;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  constexpr auto page = static_cast<std::uintptr_t>(page_bytes);
  if (address % page != static_cast<std::uintptr_t>(offset) % page) {
    return none;
  }
  const std::int64_t begin = rounded_down(offset + block_bytes_ - 1, block_bytes_);
  const std::int64_t end = rounded_down(offset + std::ssize(bytes), block_bytes_);
  return begin < end ? FileRange{.offset = begin, .bytes = end - begin} : none;
}

Request OutputFile::take_request(Remaining& remaining, std::size_t most) const {
  const std::int64_t direct_end = remaining.direct.offset + remaining.direct.bytes;
  const bool is_head = remaining.offset < remaining.direct.offset;
  Request request{.direct = !is_head && remaining.offset < direct_end && !direct_refused_,
                  .offset = remaining.offset,
                  .bytes = remaining.bytes};
  if (is_head || request.direct) {
    const std::int64_t end = is_head ? remaining.direct.offset : direct_end;
    request.bytes = remaining.bytes.first(static_cast<std::size_t>(end - remaining.offset));
  }
  const auto block = static_cast<std::size_t>(block_bytes_);
  most = request.direct ? std::max(most / block * block, block) : most;
  request.bytes =
      request.bytes.first(std::min({request.bytes.size(), largest_call_bytes(request), most}));
  remaining.offset += std::ssize(request.bytes);
  remaining.bytes = remaining.bytes.subspan(request.bytes.size());
  return request;
}

int OutputFile::descriptor(const Request& request) const noexcept {
  return (request.direct ? direct_ : buffered_).raw();
}

std::size_t OutputFile::largest_call_bytes(const Request& request) const noexcept {
  const auto block = static_cast<std::size_t>(block_bytes_);
  const std::size_t most =
      options_.pace
          ? std::min(options_.request_bytes, static_cast<std::size_t>(options_.pace->slice_bytes()))
          : options_.request_bytes;
  return request.direct ? std::clamp(most / block * block, block, largest_request_bytes)
                        : std::clamp(most, std::size_t{1}, slice_bytes);
}

void OutputFile::wait_for_pace() const {
  if (options_.pace) {
    options_.pace->wait();
  }
}

int OutputFile::perform(Request request) {
  const std::int64_t bytes = std::ssize(request.bytes);
  const int error = perform_all(request);
  if (options_.pace) {
    options_.pace->wrote(bytes);
  }
  return error;
}

int OutputFile::perform_all(Request request) {
  while (!request.bytes.empty()) {
    if (is_fenced()) {
      return ECANCELED;
    }
    const std::size_t asked = std::min(request.bytes.size(), largest_call_bytes(request));
    const ssize_t written = retried(
        [&] { return ::pwrite(descriptor(request), request.bytes.data(), asked, request.offset); });
    const Answer answer = answered(request, written == -1 ? -errno : written);
    if (answer.error != 0) {
      return answer.error;
    }
    if (answer.flush) {
      // A hint: where it fails, sync does the work and tells what is wrong.
      (void)::sync_file_range(buffered_.raw(), answer.flush->offset, answer.flush->bytes,
                              SYNC_FILE_RANGE_WRITE);
    }
    request = answer.rest;
  }
  return 0;
}

Answer OutputFile::answered(const Request& request, std::int64_t result) {
  return request.direct ? answered_direct(request, result) : answered_buffered(request, result);
}

Answer OutputFile::answered_direct(const Request& request, std::int64_t result) {
  const bool is_refused = result == -EINVAL || result == -EOPNOTSUPP;
  if (result < 0 && !is_refused) {
    return {.error = static_cast<int>(-result)};
  }
  if (is_refused) {
    direct_refused_ = true;
  }
  // After a short write go on at a whole block: what lies before it is written twice with the
  // same bytes.
  const std::int64_t kept = is_refused ? 0 : rounded_down(result, block_bytes_);
  direct_bytes_ += static_cast<std::uint64_t>(kept);
  // If nothing was written, try a buffered write, which works or tells the cause.
  return {.rest = {.direct = kept > 0,
                   .offset = request.offset + kept,
                   .bytes = request.bytes.subspan(static_cast<std::size_t>(kept))}};
}

Answer OutputFile::answered_buffered(const Request& request, std::int64_t result) {
  if (result <= 0) {
    return {.error = result == 0 ? EIO : static_cast<int>(-result)};
  }
  buffered_bytes_ += static_cast<std::uint64_t>(result);
  Answer answer{.rest = {.offset = request.offset + result,
                         .bytes = request.bytes.subspan(static_cast<std::size_t>(result))}};
  if (has_bug(Bug::short_write_ignored)) {
    answer.rest.bytes = {};
  }
  answer.flush = window_.add({.offset = request.offset, .bytes = result});
  return answer;
}

std::string OutputFile::write_story(std::int64_t offset, std::size_t bytes, int error) const {
  return "writing " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
         " of " + path_ + ": " + system_text(error);
}

std::string OutputFile::sync_story(int error) const {
  return "syncing " + path_ + ": " + system_text(error);
}

void OutputFile::sync() {
  int error = begin_sync();
  if (error == 0 && !has_bug(Bug::data_not_synced)) {
    error = end_sync(retried([&] { return ::fdatasync(buffered_.raw()); }) == -1 ? errno : 0);
  }
  if (error != 0) {
    throw Error{ErrorCode::storage_failure, sync_story(error)};
  }
}

int OutputFile::begin_sync() {
  const int error = sync_error_;
  has_unsynced_ = error != 0;
  return error;
}

int OutputFile::end_sync(int error) {
  // EINVAL: a device such as /dev/null, with nothing to be made durable.
  int left = error == EINVAL ? 0 : error;
  if (left == 0 && is_removed()) {
    left = ENOENT;
  }
  if (left != 0) {
    if (options_.sync_failed) {
      options_.sync_failed();
    }
    sync_error_ = has_bug(Bug::file_error_forgotten) ? 0 : left;
    has_unsynced_ = true;
  }
  return left;
}

void OutputFile::grow(std::int64_t bytes) {
  const auto length = length_of(buffered_.raw(), path_);
  const bool is_as_long = !length || *length >= bytes;
  if (bytes <= 0 || !length || (is_as_long && options_.are_writers_on_one_node)) {
    return;
  }
  // Nobody else writes this byte any more: later steps, which others may be writing, lie behind it.
  // A length that is set (ftruncate) would cut these off. If the file is long enough, others may
  // have made it so by writes that are still under way, and an fsync of this process does not make
  // writes of another node durable.
  has_unsynced_ = true;
  if (const int error = write_again(buffered_.raw(), bytes - 1); error != 0) {
    refuse("growing " + path_ + " to " + std::to_string(bytes) + " bytes", error);
  }
}

}  // namespace iocomp::disk
