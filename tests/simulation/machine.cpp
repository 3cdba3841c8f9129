#include "machine.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace simulation {
namespace {

constexpr Nanoseconds call_time = microsecond;
constexpr Nanoseconds write_time = 20 * microsecond;
constexpr Nanoseconds sync_time = 200 * microsecond;
constexpr std::int64_t direct_alignment = 512;

}  // namespace

Machine* Machine::made_ = nullptr;

Machine* Machine::of(const char* path) noexcept {
  return path != nullptr && std::string_view{path}.starts_with(prefix.substr(0, prefix.size() - 1))
             ? current()
             : nullptr;
}

Machine* Machine::of(int descriptor) noexcept {
  return descriptor >= first_descriptor ? current() : nullptr;
}

Machine::Open* Machine::find(int descriptor) {
  const auto found = open_.find(descriptor);
  return found == open_.end() ? nullptr : &found->second;
}

std::optional<Disk::Found> Machine::locate(const char* path) const {
  return disk_.find(std::string{path}.substr(prefix.size() - 1));
}

void Machine::tell(const std::string& what) const {
  if (log_) {
    log_(what);
  }
}

int Machine::open(const char* path, int flags) {
  take_time(call_time);
  auto found = locate(path);
  if (!found) {
    return -ENOENT;
  }
  if (found->inode == 0) {
    if ((flags & O_CREAT) == 0) {
      return -ENOENT;
    }
    found->inode = disk_.make(*found, false);
    tell(std::string{"creates "} + path);
  } else if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
    return -EEXIST;
  }
  if ((flags & O_DIRECTORY) != 0 && !disk_.is_folder(found->inode)) {
    return -ENOTDIR;
  }
  if ((flags & O_ACCMODE) != O_RDONLY && disk_.is_folder(found->inode)) {
    return -EISDIR;
  }
  if ((flags & O_TRUNC) != 0 && disk_.size(found->inode) > 0) {
    (void)disk_.resize(found->inode, 0);
  }
  open_[next_] = {
      .inode = found->inode, .flags = flags, .lost = disk_.losses(found->inode), .path = path};
  return next_++;
}

int Machine::close(int descriptor) { return open_.erase(descriptor) == 1 ? 0 : -EBADF; }

std::string Machine::path(int folder, const char* name) {
  const Open* open = find(folder);
  return open == nullptr ? std::string{name} : open->path + '/' + name;
}

std::int64_t Machine::write(int descriptor, std::int64_t offset, std::span<const std::byte> bytes) {
  const Open* open = find(descriptor);
  if (open == nullptr || (open->flags & O_ACCMODE) == O_RDONLY) {
    return -EBADF;
  }
  if ((open->flags & O_DIRECT) != 0 &&
      (reinterpret_cast<std::uintptr_t>(bytes.data()) % direct_alignment != 0 ||
       offset % direct_alignment != 0 ||
       static_cast<std::int64_t>(bytes.size()) % direct_alignment != 0)) {
    return -EINVAL;
  }
  take_time(write_time);
  open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;  // closed meanwhile
  }
  const std::int64_t written = disk_.write(open->inode, offset, bytes, world_.random());
  tell("writes " + std::to_string(bytes.size()) + " bytes at " + std::to_string(offset) + " of " +
       open->path +
       (written < 0 ? ": error " + std::to_string(-written)
        : written < static_cast<std::int64_t>(bytes.size())
            ? ": " + std::to_string(written) + " of them"
            : ""));
  take_time(call_time);
  return written;
}

std::int64_t Machine::read(int descriptor, std::int64_t offset, std::span<std::byte> bytes) {
  const Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  if (disk_.is_folder(open->inode)) {
    return -EISDIR;
  }
  const auto all = disk_.bytes(open->inode);
  const auto begin = std::min(static_cast<std::size_t>(offset), all.size());
  const auto count = std::min(bytes.size(), all.size() - begin);
  std::ranges::copy(all.subspan(begin, count), bytes.begin());
  return static_cast<std::int64_t>(count);
}

std::int64_t Machine::write_next(int descriptor, std::span<const std::byte> bytes) {
  Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  const std::int64_t offset =
      (open->flags & O_APPEND) != 0 ? disk_.size(open->inode) : open->position;
  const std::int64_t written = write(descriptor, offset, bytes);
  open = find(descriptor);
  if (written > 0 && open != nullptr) {
    open->position = offset + written;
  }
  return written;
}

std::int64_t Machine::read_next(int descriptor, std::span<std::byte> bytes) {
  Open* open = find(descriptor);
  const std::int64_t count = read(descriptor, open == nullptr ? 0 : open->position, bytes);
  if (count > 0) {
    open->position += count;
  }
  return count;
}

std::int64_t Machine::seek(int descriptor, std::int64_t offset, int whence) {
  Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  const std::int64_t from = whence == SEEK_SET   ? 0
                            : whence == SEEK_CUR ? open->position
                                                 : disk_.size(open->inode);
  open->position = from + offset;
  return open->position;
}

int Machine::resize(int descriptor, std::int64_t bytes) {
  take_time(call_time);
  const Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  tell("resizes " + open->path + " to " + std::to_string(bytes));
  return disk_.resize(open->inode, bytes);
}

int Machine::grow(int descriptor, std::int64_t bytes) {
  take_time(call_time);
  const Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  if (disk_.size(open->inode) >= bytes) {
    return 0;
  }
  tell("grows " + open->path + " to " + std::to_string(bytes));
  return disk_.resize(open->inode, bytes);
}

int Machine::sync(int descriptor) {
  if (find(descriptor) == nullptr) {
    return -EBADF;
  }
  take_time(sync_time);
  Open* const open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  int result = disk_.sync(open->inode);
  // As Linux: every descriptor that was open is told once.
  const std::int64_t known = std::exchange(open->lost, disk_.losses(open->inode));
  if (known < open->lost) {
    result = -EIO;
  }
  tell("fsyncs " + open->path + (result < 0 ? ": error " + std::to_string(-result) : ""));
  take_time(call_time);
  return result;
}

int Machine::fill(Disk::Inode inode, struct stat& status) const {
  std::memset(&status, 0, sizeof(status));
  status.st_dev = 1;
  status.st_ino = static_cast<ino_t>(inode);
  const bool is_folder = disk_.is_folder(inode);
  status.st_mode = is_folder ? S_IFDIR | 0777 : S_IFREG | 0666;
  status.st_nlink = static_cast<nlink_t>(disk_.links(inode));
  status.st_size = is_folder ? 4096 : disk_.size(inode);
  status.st_blksize = 4096;
  status.st_blocks = (status.st_size + 511) / 512;
  return 0;
}

int Machine::status(int descriptor, struct stat& status) {
  const Open* open = find(descriptor);
  return open == nullptr ? -EBADF : fill(open->inode, status);
}

int Machine::status(const char* path, struct stat& status) {
  const auto found = locate(path);
  return !found || found->inode == 0 ? -ENOENT : fill(found->inode, status);
}

int Machine::rename(const char* from, const char* to, unsigned flags) {
  take_time(call_time);
  const auto source = locate(from);
  const auto target = locate(to);
  if (!source || !target || source->inode == 0) {
    return -ENOENT;
  }
  tell(std::string{(flags & RENAME_EXCHANGE) != 0 ? "exchanges " : "renames "} + from + " and " +
       to);
  if ((flags & RENAME_EXCHANGE) != 0) {
    if (target->inode == 0) {
      return -ENOENT;
    }
    disk_.exchange(*source, *target);
    return 0;
  }
  if (target->inode != 0) {
    if ((flags & RENAME_NOREPLACE) != 0) {
      return -EEXIST;
    }
    if (disk_.is_folder(target->inode) && !disk_.names(target->inode).empty()) {
      return -ENOTEMPTY;
    }
    if (disk_.is_folder(target->inode) != disk_.is_folder(source->inode)) {
      return disk_.is_folder(target->inode) ? -EISDIR : -ENOTDIR;
    }
  }
  disk_.rename(*source, *target);
  take_time(call_time);
  return 0;
}

int Machine::link(const char* from, const char* to) {
  take_time(call_time);
  const auto source = locate(from);
  const auto target = locate(to);
  if (!source || !target || source->inode == 0) {
    return -ENOENT;
  }
  if (target->inode != 0) {
    return -EEXIST;
  }
  disk_.link(source->inode, *target);
  return 0;
}

int Machine::unlink(const char* path) {
  take_time(call_time);
  const auto found = locate(path);
  if (!found || found->inode == 0) {
    return -ENOENT;
  }
  if (disk_.is_folder(found->inode)) {
    return -EISDIR;
  }
  tell(std::string{"removes "} + path);
  disk_.remove(*found);
  return 0;
}

int Machine::make_folder(const char* path) {
  take_time(call_time);
  const auto found = locate(path);
  if (!found) {
    return -ENOENT;
  }
  if (found->inode != 0) {
    return -EEXIST;
  }
  (void)disk_.make(*found, true);
  return 0;
}

int Machine::remove_folder(const char* path) {
  take_time(call_time);
  const auto found = locate(path);
  if (!found || found->inode == 0) {
    return -ENOENT;
  }
  if (!disk_.is_folder(found->inode)) {
    return -ENOTDIR;
  }
  if (!disk_.names(found->inode).empty()) {
    return -ENOTEMPTY;
  }
  disk_.remove(*found);
  return 0;
}

std::optional<std::vector<std::string>> Machine::names(const char* path) {
  const auto found = locate(path);
  if (!found || found->inode == 0 || !disk_.is_folder(found->inode)) {
    return std::nullopt;
  }
  std::vector<std::string> all;
  for (const auto& [name, inode] : disk_.names(found->inode)) {
    all.push_back(name);
  }
  return all;
}

int Machine::signal(int process_id) const {
  const int process = process_id - first_id_;
  return process >= 0 && process < world_.processes() && world_.is_alive(process) ? 0 : -ESRCH;
}

}  // namespace simulation
