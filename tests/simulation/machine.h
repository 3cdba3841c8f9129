// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "disk.h"
#include "rings.h"
#include "shared_memory.h"
#include "system.h"
#include "world.h"

namespace simulation {

/// The system that simulated processes call: files under `/sim/`, on a disk with faults. What fails
/// returns a negative errno. Every call takes time.
class Machine {
 public:
  /// All paths of the simulated disk begin with it.
  static constexpr std::string_view prefix = "/sim/";
  static constexpr int first_descriptor = 1 << 20;
  /// The answer of `getpid` in process 0 of the first job; those of later jobs follow far behind.
  static constexpr int first_process_id = 100000;
  // Calls take about that long.
  static constexpr Nanoseconds write_time = 20 * microsecond;
  static constexpr Nanoseconds sync_time = 200 * microsecond;

  Machine(World& world, Disk& disk, int job = 0);
  ~Machine() { made_ = nullptr; }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// That in whose processes the caller runs, or nothing.
  [[nodiscard]] static Machine* current() noexcept {
    return World::current() == nullptr ? nullptr : made_;
  }
  /// The same, for calls that name a file.
  [[nodiscard]] static Machine* of(const char* path) noexcept;
  [[nodiscard]] static Machine* of(int descriptor) noexcept;

  struct Open {
    Disk::Inode inode = 0;
    int flags = 0;
    std::int64_t position = 0;
    std::int64_t lost = 0;  ///< of the file, when this descriptor heard of it last
    int process = 0;        ///< whose it is
    std::string path{};
    std::string text{};  ///< of a file of the system; then there is no inode
  };
  [[nodiscard]] int open(const char* path, int flags);
  // These take a name in an open folder, which stays the same whatever its path is now.
  [[nodiscard]] int open_in(int folder, const char* name, int flags);
  [[nodiscard]] int status_in(int folder, const char* name, struct stat& status);
  [[nodiscard]] int rename_in(int from_folder, const char* from, int to_folder, const char* to,
                              unsigned flags);
  [[nodiscard]] int link_in(int from_folder, const char* from, int to_folder, const char* to);
  [[nodiscard]] int unlink_in(int folder, const char* name, bool is_folder);
  [[nodiscard]] int make_folder_in(int folder, const char* name);
  /// The names in an open folder, or nothing where it is none.
  [[nodiscard]] std::optional<std::vector<std::string>> names_in(int folder);
  /// It stays open as long as somebody keeps this.
  [[nodiscard]] std::shared_ptr<Open> file(int descriptor) const;
  [[nodiscard]] int close(int descriptor);
  /// Another descriptor for the same.
  [[nodiscard]] int duplicate(int descriptor);
  /// Lock a file for the open file of this descriptor, or give that up: see F_OFD_SETLK.
  [[nodiscard]] int lock(int descriptor, short type);
  /// Its flags, and others in their place: see F_GETFL and F_SETFL.
  [[nodiscard]] int flags(int descriptor);
  [[nodiscard]] int set_flags(int descriptor, int flags);
  [[nodiscard]] std::int64_t write(int descriptor, std::int64_t offset,
                                   std::span<const std::byte> bytes);
  [[nodiscard]] std::int64_t read(int descriptor, std::int64_t offset, std::span<std::byte> bytes);
  /// Here and now, whoever calls.
  [[nodiscard]] std::int64_t write_now(const Open& open, std::int64_t offset,
                                       std::span<const std::byte> bytes);
  [[nodiscard]] int sync_now(Open& open);
  /// At the position of the descriptor, which moves on.
  [[nodiscard]] std::int64_t write_next(int descriptor, std::span<const std::byte> bytes);
  [[nodiscard]] std::int64_t read_next(int descriptor, std::span<std::byte> bytes);
  [[nodiscard]] std::int64_t seek(int descriptor, std::int64_t offset, int whence);
  [[nodiscard]] int resize(int descriptor, std::int64_t bytes);
  [[nodiscard]] int resize(const char* path, std::int64_t bytes);
  [[nodiscard]] int grow(int descriptor, std::int64_t bytes);
  [[nodiscard]] int sync(int descriptor);
  [[nodiscard]] int status(int descriptor, struct stat& status);
  [[nodiscard]] int status(const char* path, struct stat& status);
  [[nodiscard]] int rename(const char* from, const char* to, unsigned flags);
  [[nodiscard]] int link(const char* from, const char* to);
  [[nodiscard]] int unlink(const char* path);
  [[nodiscard]] int make_folder(const char* path);
  [[nodiscard]] int remove_folder(const char* path);
  /// The names in a folder, or nothing where there is none.
  [[nodiscard]] std::optional<std::vector<std::string>> names(const char* path);
  [[nodiscard]] int first_id() const noexcept { return first_id_; }
  [[nodiscard]] int process_id() const noexcept { return first_id_ + world_.process(); }
  [[nodiscard]] int signal(int process_id) const;

  // Other processes.
  /// A descriptor that tells when the process has ended.
  [[nodiscard]] int open_process(int process_id);
  [[nodiscard]] bool has_ended(int process_descriptor) const;
  /// Read memory of another process, some of it somewhat later than the rest.
  [[nodiscard]] std::int64_t pull(int process_id, std::span<const std::span<std::byte>> to,
                                  std::span<const std::span<const std::byte>> from);

  /// When an fsync told a process last that bytes are lost.
  [[nodiscard]] std::optional<Nanoseconds> heard_of_loss(int process) const;
  [[nodiscard]] World& world() noexcept { return world_; }
  [[nodiscard]] SharedMemory& memory() noexcept { return memory_; }
  [[nodiscard]] Rings& rings() noexcept { return rings_; }
  void set_system(const System& system);
  /// On which node each process is; else all are on one.
  void place_processes(std::function<int(int)> node) { node_ = std::move(node); }
  [[nodiscard]] const System& system() const noexcept { return system_; }
  [[nodiscard]] std::int64_t slowness() const noexcept { return slowness_; }
  /// Makes the disk slower by this factor.
  void slow_down(std::int64_t times) noexcept { slowness_ = times; }
  /// The folder of all files gets another name after so many calls that name something in it, and
  /// for so many: then there is nothing under its path. What is open stays open.
  void lose_folder(std::int64_t after, std::int64_t during) noexcept {
    folder_goes_ = after;
    folder_returns_ = during > INT64_MAX - after ? INT64_MAX : after + during;
  }
  /// Called by a thread that is about to fsync.
  void when_syncing(std::function<void()> action) { syncing_ = std::move(action); }
  /// Called by a thread that is in a call which takes time.
  void when_in_call(std::function<void()> action) { in_call_ = std::move(action); }
  /// Tell each call that changes something, in words.
  void when_called(std::function<void(const std::string&)> log) { log_ = std::move(log); }

 private:
  [[nodiscard]] Open* find(int descriptor);
  [[nodiscard]] std::optional<Disk::Found> locate(const char* path);
  [[nodiscard]] std::optional<Disk::Found> locate_in(int folder, const char* name);
  [[nodiscard]] bool name_one();
  [[nodiscard]] std::string text(int folder, const char* name);
  // These act on what a call has found, and tell of it by this name.
  using Place = std::optional<Disk::Found>;
  [[nodiscard]] int open_at(Place found, int flags, const std::string& path);
  [[nodiscard]] int rename_at(const Place& source, const Place& target, unsigned flags,
                              const std::string& told);
  [[nodiscard]] int link_at(const Place& source, const Place& target);
  [[nodiscard]] int unlink_at(const Place& found, const std::string& path);
  [[nodiscard]] int make_folder_at(const Place& found);
  [[nodiscard]] int remove_folder_at(const Place& found);
  [[nodiscard]] std::optional<std::vector<std::string>> names_at(const Place& found) const;
  [[nodiscard]] int node_of(int process) const { return node_ ? node_(process) : 0; }
  [[nodiscard]] int node() const { return node_of(world_.process()); }
  void take_time(Nanoseconds about) {
    if (in_call_) {
      in_call_();
    }
    world_.spend_in_call(about * slowness_);
  }
  void tell(const std::string& what) const;
  [[nodiscard]] int fill(Disk::Inode inode, struct stat& status) const;

  [[nodiscard]] int process_of(int process_id) const noexcept;
  [[nodiscard]] int open_of_system(const char* path, int flags);

  static Machine* made_;
  World& world_;
  Disk& disk_;
  int first_id_;
  std::map<int, Nanoseconds> heard_of_loss_;  ///< by the process
  SharedMemory memory_{world_};
  Rings rings_{world_, *this};
  System system_;
  std::map<int, std::shared_ptr<Open>> open_;
  std::map<Disk::Inode, std::weak_ptr<Open>> locks_;  // of files that are open still
  std::map<int, int> watched_;                        // processes, by descriptor
  int next_ = first_descriptor;
  std::int64_t slowness_ = 1;
  std::int64_t named_ = 0;  // calls that named something
  std::int64_t folder_goes_ = INT64_MAX;
  std::int64_t folder_returns_ = INT64_MAX;
  std::function<void()> syncing_;
  std::function<void()> in_call_;
  std::function<void(const std::string&)> log_;
  std::function<int(int)> node_;
};

}  // namespace simulation
