// SPDX-License-Identifier: BSD-3-Clause
#include "machine.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simulation {
namespace {

constexpr Nanoseconds call_time = microsecond;
constexpr std::int64_t direct_alignment = 4096;
constexpr std::string_view names_of_memory = "/dev/shm/";
constexpr std::string_view names_of_processes = "/proc/";
constexpr std::string_view own_descriptors = "/proc/self/fd/";

// The descriptor of the simulation that the name stands for, or -1.
int own_descriptor(std::string_view name) {
  if (!name.starts_with(own_descriptors) || name.size() == own_descriptors.size()) {
    return -1;
  }
  const int number = std::atoi(name.data() + own_descriptors.size());
  return number >= Machine::first_descriptor ? number : -1;
}

}  // namespace

Machine* Machine::made_ = nullptr;

Machine::Machine(World& world, Disk& disk, int job)
    : world_{world}, disk_{disk}, first_id_{(job + 1) * first_process_id} {
  made_ = this;
  world_.when_ended([this](int process) {
    rings_.end(process);
    memory_.end(process);
    std::erase_if(open_, [process](const auto& one) { return one.second->process == process; });
  });
}

void Machine::set_system(const System& system) {
  system_ = system;
  memory_.set_capacity(system.shared_bytes);
}

Machine* Machine::of(const char* path) noexcept {
  if (path == nullptr || World::current() == nullptr) {
    return nullptr;
  }
  const std::string_view name{path};
  const bool is_here =
      name.starts_with(prefix.substr(0, prefix.size() - 1)) || name.starts_with(names_of_memory) ||
      (name.starts_with(names_of_processes) && name.size() > 6 &&
       name[names_of_processes.size()] >= '0' && name[names_of_processes.size()] <= '9') ||
      own_descriptor(name) >= 0;
  return is_here ? current() : nullptr;
}

Machine* Machine::of(int descriptor) noexcept {
  return descriptor >= first_descriptor ? current() : nullptr;
}

Machine::Open* Machine::find(int descriptor) {
  const auto found = open_.find(descriptor);
  return found == open_.end() ? nullptr : found->second.get();
}

std::shared_ptr<Machine::Open> Machine::file(int descriptor) const {
  const auto found = open_.find(descriptor);
  return found == open_.end() ? nullptr : found->second;
}

// True if the folder of all files has its path now.
bool Machine::name_one() {
  const std::int64_t number = named_++;
  if (number == folder_goes_ || number == folder_returns_) {
    tell(number == folder_goes_ ? "finds that the folder is gone" : "finds the folder again");
  }
  return number < folder_goes_ || number >= folder_returns_;
}

std::optional<Disk::Found> Machine::locate(const char* path) {
  if (const int descriptor = own_descriptor(path); descriptor >= 0) {
    const Open* open = find(descriptor);
    return open == nullptr ? std::nullopt : std::optional{Disk::Found{0, {}, open->inode}};
  }
  return name_one() ? disk_.find(std::string{path}.substr(prefix.size() - 1)) : std::nullopt;
}

std::optional<Disk::Found> Machine::locate_in(int folder, const char* name) {
  const Open* open = find(folder);
  if (open == nullptr || !disk_.is_folder(open->inode)) {
    return std::nullopt;
  }
  (void)name_one();
  if (std::string_view{name} == ".") {
    return Disk::Found{.folder = 0, .name = {}, .inode = open->inode};
  }
  const auto& names = disk_.names(open->inode);
  const auto found = names.find(name);
  return Disk::Found{
      .folder = open->inode, .name = name, .inode = found == names.end() ? 0 : found->second};
}

std::string Machine::text(int folder, const char* name) {
  const Open* open = find(folder);
  return open == nullptr ? std::string{name} : open->path + '/' + name;
}

void Machine::tell(const std::string& what) const {
  if (log_) {
    log_(what);
  }
}

// /dev/shm/NAME, /proc/PROCESS/fd/NUMBER, /proc/PROCESS/stat
int Machine::open_of_system(const char* path, int flags) {
  const std::string name{path};
  if (name.starts_with(names_of_memory)) {
    return memory_.open(name, flags);
  }
  std::size_t digits = 0;
  const int process = process_of(std::stoi(name.substr(names_of_processes.size()), &digits));
  const std::string rest = name.substr(names_of_processes.size() + digits);
  if (process < 0) {
    return -ENOENT;
  }
  if (rest == "/stat") {
    const char state = !world_.is_alive(process) ? 'Z' : world_.is_stopped(process) ? 'T' : 'S';
    open_[next_] =
        std::make_shared<Open>(Open{.flags = flags,
                                    .process = world_.process(),
                                    .path = name,
                                    .text = std::string{"1 (simulated) "} + state + " 1"});
    return next_++;
  }
  constexpr std::string_view descriptors = "/fd/";
  if (!rest.starts_with(descriptors)) {
    return -ENOENT;
  }
  return !system_.opens_others && process != world_.process()
             ? -EACCES
             : memory_.open_again(process, std::stoi(rest.substr(descriptors.size())));
}

int Machine::open(const char* path, int flags) {
  take_time(call_time);
  const int descriptor = own_descriptor(path);
  if (memory_.knows(descriptor)) {
    return memory_.open_again(world_.process(), descriptor);
  }
  if (descriptor < 0 && !std::string_view{path}.starts_with(prefix.substr(0, prefix.size() - 1))) {
    return open_of_system(path, flags);
  }
  const Open* open = find(descriptor);
  return open_at(locate(path), flags, open == nullptr ? path : open->path);
}

int Machine::open_in(int folder, const char* name, int flags) {
  take_time(call_time);
  return open_at(locate_in(folder, name), flags, text(folder, name));
}

int Machine::open_at(Place found, int flags, const std::string& path) {
  if (!found) {
    return -ENOENT;
  }
  if (found->inode == 0) {
    if ((flags & O_CREAT) == 0) {
      return -ENOENT;
    }
    found->inode = disk_.make(*found, false);
    tell("creates " + path);
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
    (void)disk_.resize(found->inode, 0, node());
  }
  open_[next_] = std::make_shared<Open>(Open{.inode = found->inode,
                                             .flags = flags,
                                             .lost = disk_.losses(found->inode),
                                             .process = world_.process(),
                                             .path = path});
  return next_++;
}

int Machine::lock(int descriptor, short type) {
  take_time(call_time);
  const auto mine = file(descriptor);
  if (!mine || (mine->flags & O_ACCMODE) == O_RDONLY) {
    return -EBADF;
  }
  const auto locked = locks_.find(mine->inode);
  const auto owner = locked == locks_.end() ? nullptr : locked->second.lock();
  if (owner && owner != mine) {
    return type == F_UNLCK ? 0 : -EAGAIN;
  }
  if (type == F_UNLCK) {
    locks_.erase(mine->inode);
  } else {
    locks_[mine->inode] = mine;
  }
  tell((type == F_UNLCK ? "unlocks " : "locks ") + mine->path);
  return 0;
}

int Machine::close(int descriptor) {
  if (memory_.knows(descriptor)) {
    memory_.close(descriptor);
    return 0;
  }
  return open_.erase(descriptor) + watched_.erase(descriptor) == 1 ? 0 : -EBADF;
}

int Machine::duplicate(int descriptor) {
  auto open = file(descriptor);
  if (!open) {
    return -EBADF;
  }
  open_[next_] = std::move(open);
  return next_++;
}

int Machine::flags(int descriptor) {
  const Open* open = find(descriptor);
  return open == nullptr ? -EBADF : open->flags;
}

int Machine::set_flags(int descriptor, int flags) {
  Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  open->flags = (open->flags & O_ACCMODE) | (flags & ~O_ACCMODE);
  return 0;
}

std::int64_t Machine::write(int descriptor, std::int64_t offset, std::span<const std::byte> bytes) {
  take_time(write_time);
  const auto open = file(descriptor);
  const std::int64_t written = open ? write_now(*open, offset, bytes) : -EBADF;
  take_time(call_time);
  return written;
}

std::int64_t Machine::write_now(const Open& open, std::int64_t offset,
                                std::span<const std::byte> bytes) {
  if ((open.flags & O_ACCMODE) == O_RDONLY) {
    return -EBADF;
  }
  if ((open.flags & O_DIRECT) != 0 &&
      (reinterpret_cast<std::uintptr_t>(bytes.data()) % direct_alignment != 0 ||
       offset % direct_alignment != 0 ||
       static_cast<std::int64_t>(bytes.size()) % direct_alignment != 0)) {
    return -EINVAL;
  }
  const std::int64_t written =
      disk_.write(open.inode, offset, bytes, node_of(open.process), world_.random());
  tell("writes " + std::to_string(bytes.size()) + " bytes at " + std::to_string(offset) + " of " +
       open.path +
       (written < 0 ? ": error " + std::to_string(-written)
        : written < static_cast<std::int64_t>(bytes.size())
            ? ": " + std::to_string(written) + " of them"
            : ""));
  return written;
}

std::int64_t Machine::read(int descriptor, std::int64_t offset, std::span<std::byte> bytes) {
  const Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  if (open->inode != 0 && disk_.is_folder(open->inode)) {
    return -EISDIR;
  }
  if (open->inode != 0) {
    disk_.look(open->inode, offset, std::ssize(bytes), node());
    return static_cast<std::int64_t>(disk_.bytes(open->inode).read(offset, bytes));
  }
  const auto all = std::as_bytes(std::span{open->text});
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
  if (memory_.knows(descriptor)) {
    return memory_.resize(descriptor, bytes);
  }
  const Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  tell("resizes " + open->path + " to " + std::to_string(bytes));
  return disk_.resize(open->inode, bytes, node());
}

int Machine::resize(const char* path, std::int64_t bytes) {
  take_time(call_time);
  const auto found = locate(path);
  if (!found || found->inode == 0) {
    return -ENOENT;
  }
  tell(std::string{"resizes "} + path + " to " + std::to_string(bytes));
  return disk_.resize(found->inode, bytes, node());
}

int Machine::grow(int descriptor, std::int64_t bytes) {
  take_time(call_time);
  if (memory_.knows(descriptor)) {
    return memory_.reserve(descriptor);
  }
  const Open* open = find(descriptor);
  if (open == nullptr) {
    return -EBADF;
  }
  if (disk_.size(open->inode) >= bytes) {
    return 0;
  }
  tell("grows " + open->path + " to " + std::to_string(bytes));
  return disk_.resize(open->inode, bytes, node());
}

int Machine::sync(int descriptor) {
  if (find(descriptor) == nullptr) {
    return -EBADF;
  }
  if (syncing_) {
    syncing_();
  }
  take_time(sync_time);
  const auto open = file(descriptor);
  const int result = open ? sync_now(*open) : -EBADF;
  if (result == 0) {  // whoever hears of a failure is not stopped before it acts
    take_time(call_time);
  }
  return result;
}

int Machine::sync_now(Open& open) {
  int result = disk_.sync(open.inode, node_of(open.process), !world_.is_stopped(open.process));
  // As Linux: every descriptor that was open is told once.
  const std::int64_t known = std::exchange(open.lost, disk_.losses(open.inode));
  if (known < open.lost) {
    result = -EIO;
  }
  if (result == -EIO) {
    heard_of_loss_[open.process] = world_.now();
  }
  tell("fsyncs " + open.path + (result < 0 ? ": error " + std::to_string(-result) : ""));
  return result;
}

std::optional<Nanoseconds> Machine::heard_of_loss(int process) const {
  const auto found = heard_of_loss_.find(process);
  return found == heard_of_loss_.end() ? std::nullopt : std::optional{found->second};
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
  if (memory_.knows(descriptor)) {
    std::memset(&status, 0, sizeof(status));
    status.st_mode = S_IFREG | 0600;
    status.st_size = memory_.size(descriptor);
    return 0;
  }
  const Open* open = find(descriptor);
  if (open != nullptr && open->inode == 0) {
    std::memset(&status, 0, sizeof(status));
    status.st_mode = S_IFREG | 0444;
    return 0;
  }
  return open == nullptr ? -EBADF : fill(open->inode, status);
}

int Machine::status(const char* path, struct stat& status) {
  const auto found = locate(path);
  return !found || found->inode == 0 ? -ENOENT : fill(found->inode, status);
}

int Machine::status_in(int folder, const char* name, struct stat& status) {
  const auto found = locate_in(folder, name);
  return !found || found->inode == 0 ? -ENOENT : fill(found->inode, status);
}

int Machine::rename(const char* from, const char* to, unsigned flags) {
  const auto source = locate(from);
  return rename_at(source, locate(to), flags, std::string{from} + " and " + to);
}

int Machine::rename_in(int from_folder, const char* from, int to_folder, const char* to,
                       unsigned flags) {
  const auto source = locate_in(from_folder, from);
  return rename_at(source, locate_in(to_folder, to), flags,
                   text(from_folder, from) + " and " + text(to_folder, to));
}

// At once: who has looked right before whether it may rename is not stopped in between.
int Machine::rename_at(const Place& source, const Place& target, unsigned flags,
                       const std::string& told) {
  if (!source || !target || source->inode == 0) {
    return -ENOENT;
  }
  tell(((flags & RENAME_EXCHANGE) != 0 ? "exchanges " : "renames ") + told);
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
  const auto source = locate(from);
  return link_at(source, locate(to));
}

int Machine::link_in(int from_folder, const char* from, int to_folder, const char* to) {
  const auto source = locate_in(from_folder, from);
  return link_at(source, locate_in(to_folder, to));
}

int Machine::link_at(const Place& source, const Place& target) {
  take_time(call_time);
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
  if (std::string_view{path}.starts_with(names_of_memory)) {
    return memory_.unlink(path);
  }
  return unlink_at(locate(path), path);
}

int Machine::unlink_in(int folder, const char* name, bool is_folder) {
  const auto found = locate_in(folder, name);
  return is_folder ? remove_folder_at(found) : unlink_at(found, text(folder, name));
}

int Machine::unlink_at(const Place& found, const std::string& path) {
  if (!found || found->inode == 0) {
    return -ENOENT;
  }
  if (disk_.is_folder(found->inode)) {
    return -EISDIR;
  }
  tell("removes " + path);
  disk_.remove(*found);
  take_time(call_time);
  return 0;
}

int Machine::make_folder(const char* path) { return make_folder_at(locate(path)); }

int Machine::make_folder_in(int folder, const char* name) {
  return make_folder_at(locate_in(folder, name));
}

int Machine::make_folder_at(const Place& found) {
  take_time(call_time);
  if (!found) {
    return -ENOENT;
  }
  if (found->inode != 0) {
    return -EEXIST;
  }
  (void)disk_.make(*found, true);
  return 0;
}

int Machine::remove_folder(const char* path) { return remove_folder_at(locate(path)); }

int Machine::remove_folder_at(const Place& found) {
  take_time(call_time);
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
  return names_at(locate(path));
}

std::optional<std::vector<std::string>> Machine::names_in(int folder) {
  return names_at(locate_in(folder, "."));
}

std::optional<std::vector<std::string>> Machine::names_at(const Place& found) const {
  if (!found || found->inode == 0 || !disk_.is_folder(found->inode)) {
    return std::nullopt;
  }
  std::vector<std::string> all;
  for (const auto& [name, inode] : disk_.names(found->inode)) {
    all.push_back(name);
  }
  return all;
}

int Machine::process_of(int process_id) const noexcept {
  const int process = process_id - first_id_;
  return process >= 0 && process < world_.processes() ? process : -1;
}

int Machine::signal(int process_id) const {
  const int process = process_of(process_id);
  return process >= 0 && world_.is_alive(process) ? 0 : -ESRCH;
}

int Machine::open_process(int process_id) {
  take_time(call_time);
  if (!system_.has_process_descriptors) {
    return -ENOSYS;
  }
  const int process = process_of(process_id);
  if (process < 0) {
    return -ESRCH;
  }
  watched_[next_] = process;
  return next_++;
}

bool Machine::has_ended(int process_descriptor) const {
  const auto watched = watched_.find(process_descriptor);
  return watched == watched_.end() || !world_.is_alive(watched->second);
}

std::int64_t Machine::pull(int process_id, std::span<const std::span<std::byte>> to,
                           std::span<const std::span<const std::byte>> from) {
  take_time(call_time);
  if (!system_.pulls) {
    return -EPERM;
  }
  std::int64_t pulled = 0;
  std::size_t into = 0;
  std::size_t filled = 0;
  for (const auto source : from) {
    for (std::size_t done = 0; done < source.size();) {
      if (signal(process_id) != 0) {
        return pulled > 0 ? pulled : -ESRCH;
      }
      if (into == to.size()) {
        return pulled;
      }
      const std::size_t longest = std::min(source.size() - done, to[into].size() - filled);
      const std::size_t count = longest > 1 && world_.random().chance(1, 4)
                                    ? static_cast<std::size_t>(world_.random().between(
                                          1, static_cast<std::int64_t>(longest) - 1))
                                    : longest;
      std::ranges::copy(source.subspan(done, count),
                        to[into].begin() + static_cast<std::ptrdiff_t>(filled));
      done += count;
      filled += count;
      pulled += static_cast<std::int64_t>(count);
      if (filled == to[into].size()) {
        ++into;
        filled = 0;
      }
      if (count < longest) {
        take_time(call_time);
      }
    }
  }
  take_time(call_time);
  return pulled;
}

}  // namespace simulation
