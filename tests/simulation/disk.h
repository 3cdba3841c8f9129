// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "file_bytes.h"
#include "random.h"

namespace simulation {

/// One file system: a page cache over a disk. What was not fsynced is lost, torn, reordered or kept
/// at a power loss, as chance decides; names as well as bytes. Errors are errno values.
class Disk {
 public:
  using Inode = std::int64_t;  ///< 0: none
  static constexpr Inode root = 1;
  static constexpr std::int64_t sector_bytes = 512;

  /// The faults, and when they come.
  struct Faults {
    std::optional<std::int64_t> capacity_bytes{};  ///< then ENOSPC
    std::optional<std::int64_t> failing_write{};   ///< this one, and some after it: EIO
    std::int64_t failing_writes = 1;               ///< so many
    std::optional<std::int64_t>
        failing_sync{};             ///< this one, once; what it should have kept is lost
    bool writes_are_short = false;  ///< some take a part only
    bool operator==(const Faults&) const = default;
  };

  Disk();

  // Names.
  struct Found {
    Inode folder = 0;
    std::string name;
    Inode inode = 0;  ///< 0: no such name, in a folder that is there
  };
  /// @return nothing when a folder on the way is missing.
  [[nodiscard]] std::optional<Found> find(const std::string& path) const;
  [[nodiscard]] bool is_folder(Inode inode) const { return nodes_.at(inode).is_folder; }
  [[nodiscard]] const std::map<std::string, Inode>& names(Inode folder) const {
    return nodes_.at(folder).names;
  }
  [[nodiscard]] Inode make(const Found& place, bool folder);
  void remove(const Found& place);
  void link(Inode inode, const Found& to);
  void rename(const Found& from, const Found& to);
  void exchange(const Found& one, const Found& other);
  [[nodiscard]] std::int64_t links(Inode inode) const { return nodes_.at(inode).links; }

  // Bytes.
  [[nodiscard]] std::int64_t size(Inode inode) const { return bytes(inode).size(); }
  [[nodiscard]] const FileBytes& bytes(Inode inode) const { return nodes_.at(inode).now; }
  // Each node has a page cache of its own over a file server: an fsync makes durable what its node
  // has written. What another node reads, writes over or cuts off goes to the server first, where
  // any fsync finds it.
  /// @return bytes written, or a negative errno.
  [[nodiscard]] std::int64_t write(Inode inode, std::int64_t offset,
                                   std::span<const std::byte> bytes, int node, Random& random);
  /// @return 0 or a negative errno.
  [[nodiscard]] int resize(Inode inode, std::int64_t bytes, int node);
  /// A node reads these bytes.
  void look(Inode inode, std::int64_t offset, std::int64_t bytes, int node);
  /// The number of times that an fsync has failed and lost what it should have kept.
  [[nodiscard]] std::int64_t losses(Inode inode) const { return nodes_.at(inode).losses; }
  /// Syncs a file or a folder. @param is_heard  else it does not fail: its error would be told to
  /// nobody.
  /// @return 0 or a negative errno.
  [[nodiscard]] int sync(Inode inode, int node, bool is_heard = true);

  /// From here on; writes and fsyncs are counted from here, too.
  void set_faults(const Faults& faults) {
    faults_ = faults;
    writes_ = syncs_ = 0;
  }
  void heal() { faults_ = {}; }
  /// Called before each change, fsyncs among them. A disk after a power loss has none.
  void when_changing(std::function<void()> action) { changing_ = std::move(action); }

  /// A disk as it may be after a power loss now.
  [[nodiscard]] Disk after_power_loss(Random& random) const;
  /// True if a program that reads files with `part` in their names finds the same as on another.
  [[nodiscard]] bool looks_like(const Disk& other, const std::string& part) const {
    return looks_like(other, part, root);
  }
  /// The paths of all files and folders.
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  static constexpr int server = -1;
  struct Change {  // of a file; bytes at an offset, or a new size
    std::int64_t offset = 0;
    std::vector<std::byte> bytes;
    std::int64_t size = -1;
    bool grows = false;
    int node = server;  // whose cache has it
  };
  struct Node {
    bool is_folder = false;
    std::int64_t links = 0;
    FileBytes now;
    FileBytes kept;               // on the disk, surely
    std::vector<Change> pending;  // ... and perhaps
    std::int64_t losses = 0;
    std::map<std::string, Inode> names;
    std::map<std::string, Inode> kept_names;
  };
  struct Naming {  // names that change at once
    struct One {
      Inode folder;
      std::string name;
      Inode inode;  // 0: gone
    };
    std::vector<One> changes;
  };
  void name(Naming naming);
  void will_change() const {
    if (changing_) {
      changing_();
    }
  }
  static void apply(FileBytes& bytes, const Change& change);
  [[nodiscard]] bool looks_like(const Disk& other, const std::string& part, Inode folder) const;
  [[nodiscard]] std::vector<std::pair<std::string, Inode>> names_with(const std::string& part,
                                                                      Inode folder) const;
  void list(Inode folder, const std::string& path, std::vector<std::string>& all) const;

  std::map<Inode, Node> nodes_;
  std::vector<Naming> namings_;  // that are not kept surely, in their order
  Inode last_ = root;
  std::int64_t used_ = 0;
  std::int64_t writes_ = 0;
  std::int64_t syncs_ = 0;
  Faults faults_;
  std::function<void()> changing_;
};

}  // namespace simulation
