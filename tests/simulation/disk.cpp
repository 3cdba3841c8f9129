// SPDX-License-Identifier: BSD-3-Clause
#include "disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

namespace simulation {

Disk::Disk() { nodes_[root].is_folder = true; }

std::optional<Disk::Found> Disk::find(const std::string& path) const {
  Found found{.folder = root, .name = {}, .inode = root};
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") {
      continue;
    }
    if (found.inode == 0 || !is_folder(found.inode)) {
      return std::nullopt;
    }
    const auto& entries = names(found.inode);
    const auto entry = entries.find(part);
    found = {
        .folder = found.inode, .name = part, .inode = entry == entries.end() ? 0 : entry->second};
  }
  return found;
}

void Disk::name(Naming naming) {
  will_change();
  for (const auto& [folder, name, inode] : naming.changes) {
    auto& names = nodes_[folder].names;
    const auto before = names.find(name);
    if (before != names.end()) {
      --nodes_[before->second].links;
      names.erase(before);
    }
    if (inode != 0) {
      names[name] = inode;
      ++nodes_[inode].links;
    }
  }
  namings_.push_back(std::move(naming));
}

Disk::Inode Disk::make(const Found& place, bool folder) {
  const Inode inode = ++last_;
  nodes_[inode].is_folder = folder;
  name({{{place.folder, place.name, inode}}});
  return inode;
}

void Disk::remove(const Found& place) { name({{{place.folder, place.name, 0}}}); }

void Disk::link(Inode inode, const Found& to) { name({{{to.folder, to.name, inode}}}); }

void Disk::rename(const Found& from, const Found& to) {
  name({{{from.folder, from.name, 0}, {to.folder, to.name, from.inode}}});
}

void Disk::exchange(const Found& one, const Found& other) {
  name({{{one.folder, one.name, other.inode}, {other.folder, other.name, one.inode}}});
}

void Disk::apply(FileBytes& bytes, const Change& change) {
  if (change.size < 0) {
    bytes.write(change.offset, change.bytes);
  } else if (!change.grows || bytes.size() < change.size) {
    bytes.resize(change.size);
  }
}

void Disk::look(Inode inode, std::int64_t offset, std::int64_t bytes, int node) {
  for (auto& change : nodes_.at(inode).pending) {
    if (change.node == node) {
      continue;
    }
    const bool meets = change.size >= 0 || (change.offset < offset + bytes &&
                                            offset < change.offset + std::ssize(change.bytes));
    if (meets) {
      change.node = server;
    }
  }
}

std::int64_t Disk::write(Inode inode, std::int64_t offset, std::span<const std::byte> bytes,
                         int node_number, Random& random) {
  will_change();
  ++writes_;
  if (faults_.failing_write && writes_ >= *faults_.failing_write &&
      writes_ < *faults_.failing_write + faults_.failing_writes) {
    return -EIO;
  }
  // A few bytes over others, within a sector, are written or not: switches count on that.
  constexpr std::size_t most_whole_bytes = 48;
  const bool is_whole = bytes.size() <= most_whole_bytes &&
                        offset + static_cast<std::int64_t>(bytes.size()) <= size(inode);
  if (faults_.writes_are_short && bytes.size() > 1 && !is_whole && random.chance(1, 3)) {
    bytes = bytes.first(
        static_cast<std::size_t>(random.between(1, static_cast<std::int64_t>(bytes.size()) - 1)));
  }
  Node& node = nodes_.at(inode);
  if (faults_.capacity_bytes) {
    const std::int64_t grown =
        std::max<std::int64_t>(0, offset + static_cast<std::int64_t>(bytes.size()) - size(inode));
    const std::int64_t room = *faults_.capacity_bytes - used_;
    if (grown > room) {
      const std::int64_t fits =
          static_cast<std::int64_t>(bytes.size()) - (grown - std::max<std::int64_t>(0, room));
      if (fits <= 0) {
        return -ENOSPC;
      }
      bytes = bytes.first(static_cast<std::size_t>(fits));
    }
  }
  const std::int64_t before = size(inode);
  look(inode, offset, std::ssize(bytes), node_number);
  node.pending.push_back(
      {.offset = offset, .bytes = {bytes.begin(), bytes.end()}, .node = node_number});
  apply(node.now, node.pending.back());
  used_ += size(inode) - before;
  return static_cast<std::int64_t>(bytes.size());
}

int Disk::resize(Inode inode, std::int64_t bytes, int node_number) {
  will_change();
  Node& node = nodes_.at(inode);
  const std::int64_t grown = bytes - size(inode);
  if (faults_.capacity_bytes && grown > *faults_.capacity_bytes - used_) {
    return -ENOSPC;
  }
  if (grown < 0) {
    look(inode, 0, size(inode), node_number);
  }
  node.pending.push_back({.bytes = {}, .size = bytes, .grows = grown >= 0, .node = node_number});
  apply(node.now, node.pending.back());
  used_ += grown;
  return 0;
}

int Disk::sync(Inode inode, int node_number, bool is_heard) {
  will_change();
  ++syncs_;
  Node& node = nodes_.at(inode);
  const bool fails = is_heard && faults_.failing_sync && syncs_ >= *faults_.failing_sync;
  const auto is_its_own = [=](const Change& change) {
    return change.node == node_number || change.node == server;
  };
  if (!fails && node.losses == 0 && std::ranges::all_of(node.pending, is_its_own)) {
    node.kept = node.now;  // they share what they have
    node.pending.clear();
  }
  std::erase_if(node.pending, [&](const Change& change) {
    const bool is_taken = is_its_own(change);
    if (is_taken && !fails) {
      apply(node.kept, change);
    }
    return is_taken;
  });
  if (fails) {
    // The system forgets what it could not write, and the next fsync says yes.
    faults_.failing_sync.reset();
    ++node.losses;
    return -EIO;
  }
  if (!node.is_folder) {
    return 0;
  }
  std::erase_if(namings_, [&](const Naming& naming) {
    const bool is_here = std::ranges::any_of(
        naming.changes, [&](const auto& change) { return change.folder == inode; });
    if (is_here) {
      for (const auto& [folder, name, target] : naming.changes) {
        auto& names = nodes_[folder].kept_names;
        target == 0 ? static_cast<void>(names.erase(name))
                    : static_cast<void>(names[name] = target);
      }
    }
    return is_here;
  });
  return 0;
}

Disk Disk::after_power_loss(Random& random) const {
  Disk after;
  after.last_ = last_;
  const std::int64_t mood = random.below(4);  // nothing, everything, or each by chance
  const auto is_kept = [&](std::int64_t wholly) {
    return mood == 0 ? false : mood == 1 ? true : random.chance(1, wholly);
  };
  for (const auto& [inode, before] : nodes_) {
    Node& node = after.nodes_[inode];
    node.is_folder = before.is_folder;
    node.losses = before.losses;
    node.kept = before.kept;
    node.names = before.kept_names;
    std::vector<const Change*> pending;
    for (const auto& change : before.pending) {
      pending.push_back(&change);
    }
    if (mood == 3) {  // the disk takes them in another order
      for (std::size_t i = pending.size(); i > 1; --i) {
        std::swap(pending[i - 1],
                  pending[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
      }
    }
    for (const Change* change : pending) {
      if (!is_kept(2)) {
        continue;
      }
      if (change->size >= 0 || mood == 1 || random.chance(1, 2)) {
        apply(node.kept, *change);
        continue;
      }
      const std::span<const std::byte> bytes{change->bytes};
      for (std::size_t at = 0; at < bytes.size();) {  // torn: some sectors of it
        const auto place = change->offset + static_cast<std::int64_t>(at);
        const auto length = std::min(static_cast<std::size_t>(sector_bytes - place % sector_bytes),
                                     bytes.size() - at);
        if (random.chance(1, 2)) {
          node.kept.write(place, bytes.subspan(at, length));
        }
        at += length;
      }
    }
    node.now = node.kept;
  }
  bool goes_on = true;  // of a journal the first part is there, of another system any part
  const bool in_order = random.chance(1, 2);
  for (const auto& naming : namings_) {
    goes_on = is_kept(2) && (goes_on || !in_order);
    if (!goes_on) {
      continue;
    }
    for (const auto& [folder, name, target] : naming.changes) {
      auto& names = after.nodes_[folder].names;
      target == 0 ? static_cast<void>(names.erase(name)) : static_cast<void>(names[name] = target);
    }
  }
  for (auto& [inode, node] : after.nodes_) {
    node.kept_names = node.names;
    after.used_ += node.now.size();
    for (const auto& [name, target] : node.names) {
      ++after.nodes_[target].links;
    }
  }
  return after;
}

// Returns files, and all folders.
std::vector<std::pair<std::string, Disk::Inode>> Disk::names_with(const std::string& part,
                                                                  Inode folder) const {
  std::vector<std::pair<std::string, Inode>> found;
  for (const auto& [name, inode] : names(folder)) {
    if (is_folder(inode) || name.find(part) != std::string::npos) {
      found.emplace_back(name, inode);
    }
  }
  return found;
}

bool Disk::looks_like(const Disk& other, const std::string& part, Inode folder) const {
  const auto own = names_with(part, folder);
  if (own != other.names_with(part, folder)) {
    return false;
  }
  return std::ranges::all_of(own, [&](const auto& one) {
    const Node& here = nodes_.at(one.second);
    const Node& there = other.nodes_.at(one.second);
    return here.is_folder == there.is_folder &&
           (here.is_folder ? looks_like(other, part, one.second) : here.now == there.now);
  });
}

void Disk::list(Inode folder, const std::string& path, std::vector<std::string>& all) const {
  for (const auto& [name, inode] : names(folder)) {
    all.push_back(path + name);
    if (is_folder(inode)) {
      list(inode, path + name + '/', all);
    }
  }
}

std::vector<std::string> Disk::list() const {
  std::vector<std::string> all;
  list(root, {}, all);
  return all;
}

}  // namespace simulation
