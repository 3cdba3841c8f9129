// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "world.h"

namespace simulation {

/// Memory that simulated processes share, by descriptor and by name. Each mapping has addresses of
/// its own, as in processes of their own: who unmaps memory cannot touch it any more. What fails
/// returns a negative errno.
class SharedMemory {
 public:
  static constexpr int first_descriptor = 1 << 24;

  explicit SharedMemory(World& world) : world_{world} {}
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// A process has ended: others cannot open what it had.
  void end(int process);
  /// Limits all of it together to so many bytes; reserving more fails.
  void set_capacity(std::int64_t bytes) noexcept { capacity_ = bytes; }

  [[nodiscard]] int make();
  /// A file of /dev/shm.
  [[nodiscard]] int open(const std::string& name, int flags);
  /// Opens the object that another process has under this number.
  [[nodiscard]] int open_again(int process, int descriptor);
  [[nodiscard]] int unlink(const std::string& name);
  [[nodiscard]] bool knows(int descriptor) const { return open_.contains(descriptor); }
  void close(int descriptor) { open_.erase(descriptor); }
  [[nodiscard]] int resize(int descriptor, std::int64_t bytes);
  /// So that all of it is there.
  [[nodiscard]] int reserve(int descriptor);
  /// The same for a part of mapped memory; nothing for memory that is not shared.
  [[nodiscard]] std::optional<int> reserve(const void* address, std::size_t bytes);
  [[nodiscard]] std::int64_t size(int descriptor) const {
    return open_.at(descriptor).object->size;
  }
  [[nodiscard]] void* map(int descriptor, std::size_t bytes, int protection);
  /// @return whether it was such memory.
  bool unmap(void* address, std::size_t bytes);
  [[nodiscard]] bool is_shared(const void* address) const { return find(address) != nullptr; }

  /// The same for all mappings of a byte, and for no other byte.
  [[nodiscard]] const void* place(const void* address) const;

 private:
  struct Object {
    std::int64_t begin = 0;  // in the file that holds all
    std::int64_t room = 0;   // from there on
    std::int64_t size = 0;
    std::set<std::int64_t> reserved{};  // pages
  };
  struct Open {
    std::shared_ptr<Object> object;
    int process;
  };
  struct Mapping {
    std::shared_ptr<Object> object;
    std::size_t bytes;
  };
  using Mappings = std::map<std::uintptr_t, Mapping>;
  [[nodiscard]] const Mappings::value_type* find(const void* address) const;
  [[nodiscard]] std::shared_ptr<Object> make_object();
  [[nodiscard]] int reserve(Object& object, std::int64_t first, std::int64_t bytes);
  [[nodiscard]] int add(std::shared_ptr<Object> object);

  World& world_;
  std::int64_t capacity_ = INT64_MAX;
  std::int64_t reserved_ = 0;
  int file_ = -1;          // of the system; holds all objects, one behind the other
  std::int64_t used_ = 0;  // of its bytes
  int next_ = first_descriptor;
  std::map<int, Open> open_;
  std::map<std::string, std::shared_ptr<Object>> names_;
  Mappings mappings_;  // by first byte
};

}  // namespace simulation
