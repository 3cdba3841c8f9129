// SPDX-License-Identifier: BSD-3-Clause
#include "shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace simulation {
namespace {

constexpr std::int64_t page_bytes = 4096;
constexpr std::int64_t file_bytes = std::int64_t{1} << 40;

// No address of the system, and no pointer to anything.
constexpr std::uintptr_t places = std::uintptr_t{1} << 62;

}  // namespace

SharedMemory::~SharedMemory() {
  for (const auto& [address, mapping] : mappings_) {
    ::munmap(reinterpret_cast<void*>(address), mapping.bytes);
  }
  if (file_ >= 0) {
    ::close(file_);
  }
}

int SharedMemory::add(std::shared_ptr<Object> object) {
  open_[next_] = {.object = std::move(object), .process = world_.process()};
  return next_++;
}

std::shared_ptr<SharedMemory::Object> SharedMemory::make_object() {
  return {new Object, [this](const Object* object) {
            reserved_ -= std::ssize(object->reserved) * page_bytes;
            delete object;
          }};
}

int SharedMemory::make() { return add(make_object()); }

void SharedMemory::end(int process) {
  std::erase_if(open_, [process](const auto& one) { return one.second.process == process; });
}

int SharedMemory::open(const std::string& name, int flags) {
  const auto found = names_.find(name);
  if (found == names_.end()) {
    if ((flags & O_CREAT) == 0) {
      return -ENOENT;
    }
    return add(names_[name] = make_object());
  }
  return (flags & O_EXCL) != 0 ? -EEXIST : add(found->second);
}

int SharedMemory::open_again(int process, int descriptor) {
  const auto found = open_.find(descriptor);
  return found == open_.end() || found->second.process != process || !world_.is_alive(process)
             ? -ENOENT
             : add(found->second.object);
}

int SharedMemory::unlink(const std::string& name) { return names_.erase(name) == 1 ? 0 : -ENOENT; }

int SharedMemory::resize(int descriptor, std::int64_t bytes) {
  Object& object = *open_.at(descriptor).object;
  if (bytes > object.room) {
    if (object.room > 0) {
      std::abort();  // it may be mapped already: nobody asks for that
    }
    object.room = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    object.begin = std::exchange(used_, used_ + object.room);
  }
  reserved_ -= std::ssize(std::exchange(object.reserved, {})) * page_bytes;
  object.size = bytes;
  return 0;
}

// All of it or nothing.
int SharedMemory::reserve(Object& object, std::int64_t first, std::int64_t bytes) {
  std::set<std::int64_t> pages;
  for (std::int64_t page = first / page_bytes; page * page_bytes < first + bytes; ++page) {
    if (!object.reserved.contains(page)) {
      pages.insert(page);
    }
  }
  if (std::ssize(pages) * page_bytes > capacity_ - reserved_) {
    return -ENOSPC;
  }
  reserved_ += std::ssize(pages) * page_bytes;
  object.reserved.merge(pages);
  return 0;
}

int SharedMemory::reserve(int descriptor) {
  Object& object = *open_.at(descriptor).object;
  return reserve(object, 0, object.size);
}

std::optional<int> SharedMemory::reserve(const void* address, std::size_t bytes) {
  const auto* const found = find(address);
  if (found == nullptr) {
    return std::nullopt;
  }
  const auto first =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) - found->first);
  return reserve(*found->second.object, first, static_cast<std::int64_t>(bytes));
}

void* SharedMemory::map(int descriptor, std::size_t bytes, int protection) {
  const auto& object = open_.at(descriptor).object;
  if (file_ < 0) {
    file_ = static_cast<int>(::syscall(SYS_memfd_create, "simulation", MFD_CLOEXEC));
    if (file_ < 0 || ::ftruncate(file_, file_bytes) != 0) {
      std::abort();
    }
  }
  void* const address = ::mmap(nullptr, bytes, protection, MAP_SHARED, file_, object->begin);
  if (address != MAP_FAILED) {
    mappings_[reinterpret_cast<std::uintptr_t>(address)] = {object, bytes};
  }
  return address;
}

bool SharedMemory::unmap(void* address, std::size_t bytes) {
  if (mappings_.erase(reinterpret_cast<std::uintptr_t>(address)) == 0) {
    return false;
  }
  (void)::munmap(address, bytes);
  return true;
}

const SharedMemory::Mappings::value_type* SharedMemory::find(const void* address) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const auto after = mappings_.upper_bound(number);
  if (after == mappings_.begin()) {
    return nullptr;
  }
  const auto& mapping = *std::prev(after);
  return number < mapping.first + mapping.second.bytes ? &mapping : nullptr;
}

const void* SharedMemory::place(const void* address) const {
  const auto* const found = find(address);
  return found == nullptr ? address
                          : reinterpret_cast<const void*>(
                                places + static_cast<std::uintptr_t>(found->second.object->begin) +
                                (reinterpret_cast<std::uintptr_t>(address) - found->first));
}

}  // namespace simulation
